import type { CallId, ThreadId } from '../core/ids.ts'
import type { ShareId } from '../core/share.ts'

/** The URL under which one complete call can be read: the `href` of a result that was left out. */
export const toCallAddress = (threadId: ThreadId, callId: CallId, basePath = ''): string =>
  `${basePath}/api/threads/${encodeURIComponent(threadId)}/tool-calls/${encodeURIComponent(callId)}`

/** The same for a call that is read through a link (FK5). */
export const toSharedCallAddress = (shareId: ShareId, callId: CallId, basePath = ''): string =>
  `${basePath}/api/shares/${shareId}/tool-calls/${encodeURIComponent(callId)}`
