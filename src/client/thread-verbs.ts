import type { Api } from './api.ts'
import type { ThreadClient } from './thread-snapshot.ts'

type ThreadVerbs = Pick<
  ThreadClient,
  | 'editQueued'
  | 'moveQueued'
  | 'withdraw'
  | 'release'
  | 'stop'
  | 'fork'
  | 'giveFeedback'
  | 'decide'
  | 'decideAll'
  | 'resolve'
>

/** Operations that only send a request: their result arrives with the frames, here as on every other screen. */
export function createThreadVerbs(api: Api, threadId: string): ThreadVerbs {
  const base = `/api/threads/${encodeURIComponent(threadId)}`
  const queued = (id: string) => `${base}/queue/${encodeURIComponent(id)}`
  return {
    async editQueued(id, text) {
      await api.patch(queued(id), { text })
    },
    async moveQueued(id, before) {
      await api.patch(queued(id), { before })
    },
    withdraw: (id) => api.delete(queued(id)),
    async release() {
      await api.post(`${base}/queue/release`, {})
    },
    async stop() {
      await api.post(`/api/chat/${encodeURIComponent(threadId)}/stop`, {})
    },
    async fork(messageId) {
      const body = messageId === undefined ? {} : { messageId }
      const { id } = await api.post<{ readonly id: string }>(`${base}/fork`, body)
      return { threadId: id }
    },
    async giveFeedback(messageId, feedback) {
      const path = `/api/messages/${encodeURIComponent(messageId)}/feedback`
      await api.post(path, { ...feedback, threadId })
    },
    async decide(callId, answer) {
      await api.post(`${base}/tool-calls/${encodeURIComponent(callId)}/decision`, answer)
    },
    async decideAll(callIds, answer) {
      const decisions = callIds.map((callId) => ({ ...answer, callId }))
      await api.post(`${base}/decisions`, { decisions })
    },
    async resolve(callId, resolution, result) {
      const body = result === undefined ? { resolution } : { resolution, result }
      await api.post(`${base}/tool-calls/${encodeURIComponent(callId)}/resolve`, body)
    },
  }
}
