import type { CallId, ThreadId } from '../core/ids.ts'
import type { ShareId } from '../core/share.ts'

/** Where one call can be read whole: what a result that was left out says as its `href`. */
export const toCallAddress = (threadId: ThreadId, callId: CallId, basePath = ''): string =>
  `${basePath}/api/threads/${encodeURIComponent(threadId)}/tool-calls/${encodeURIComponent(callId)}`

/** The same of a call that is read through a link (FK5). */
export const toSharedCallAddress = (shareId: ShareId, callId: CallId, basePath = ''): string =>
  `${basePath}/api/shares/${shareId}/tool-calls/${encodeURIComponent(callId)}`
