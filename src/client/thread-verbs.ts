import { ApiError } from '../protocol/api-error.ts'
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

interface DecisionResults {
  readonly results: readonly {
    readonly error?: { readonly code: string; readonly message: string }
  }[]
}

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
    async decideAll(callIds, answer, own) {
      const decisions = callIds.map((callId) => ({ ...(own?.get(callId) ?? answer), callId }))
      const { results } = await api.post<DecisionResults>(`${base}/decisions`, { decisions })
      // The response is a 200 even if some of them failed.
      const failed = results.find(({ error }) => error !== undefined)?.error
      if (failed !== undefined) throw new ApiError(409, failed.code, failed.message)
    },
    async resolve(callId, resolution, result) {
      const body = result === undefined ? { resolution } : { resolution, result }
      await api.post(`${base}/tool-calls/${encodeURIComponent(callId)}/resolve`, body)
    },
  }
}
