import type { ThreadView } from '../core/fold-thread.ts'
import type { Message } from '../core/message.ts'
import { withDefined } from '../core/with-defined.ts'
import { parseShownQueue } from '../views/queue-view.ts'
import type { Api } from './api.ts'
import type { ThreadSnapshot } from './thread-snapshot.ts'

interface LedgerPage {
  readonly results: readonly Message[]
  readonly nextCursor: string | null
  readonly seq: number
  readonly place?: string
  readonly queue?: unknown
}

export interface ThreadDetails extends Pick<
  ThreadSnapshot,
  'title' | 'pinned' | 'archived' | 'forkedFrom'
> {
  readonly seq: number
}

/** Reads the thread at `base`, the path of its routes, page by page. */
export function createPageReader(api: Api, base: string) {
  const readDetails = (signal?: AbortSignal) => api.get<ThreadDetails>(base, signal)

  const readPage = (
    from: string | null,
    limit: number,
    signal?: AbortSignal,
  ): Promise<LedgerPage> => {
    const edge = from === null ? '' : `&cursor=${encodeURIComponent(from)}`
    const path = `${base}/messages?format=ledger&results=lazy&limit=${limit}${edge}`
    return api.get<LedgerPage>(path, signal)
  }

  const readNewest = async (limit: number, signal?: AbortSignal) => {
    const [head, page] = await Promise.all([readDetails(signal), readPage(null, limit, signal)])
    // A change of the thread between the two reads is in neither, and comes with no frame.
    return { page, head: head.seq < page.seq ? await readDetails(signal) : head }
  }

  return { readPage, readNewest }
}

/** What was read, as a view: the newest page, and the messages of it and of the pages before it. */
export const viewOf = (
  { seq, queue }: LedgerPage,
  newestFirst: readonly Message[],
  nextCursor: string | null,
  { title, pinned, archived }: ThreadDetails,
): ThreadView =>
  withDefined(
    { ...windowOf(seq, newestFirst.toReversed(), nextCursor), queue: parseShownQueue(queue) },
    // A server of an older version sends no flags.
    { title, pinned, archived },
  )

/** If there are older messages, the view begins at its oldest one; else at the thread's beginning. */
export function windowOf(
  seq: number,
  messages: readonly Message[],
  nextCursor: string | null,
): ThreadView & { readonly from: number } {
  return { seq, from: nextCursor === null ? 0 : (messages[0]?.seq ?? 0), messages }
}
