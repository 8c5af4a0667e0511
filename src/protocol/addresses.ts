import type { CallId, ThreadId } from '../core/ids.ts'

/** Where one call can be read whole: what a result that was left out says as its `href`. */
export const toCallAddress = (threadId: ThreadId, callId: CallId, basePath = ''): string =>
  `${basePath}/api/threads/${encodeURIComponent(threadId)}/tool-calls/${encodeURIComponent(callId)}`
