import { HoldfastError } from '../core/holdfast-error.ts'
import type { Seq, ThreadId } from '../core/ids.ts'
import type { Message } from '../core/message.ts'
import type { ThreadRecord } from '../core/thread.ts'
import type { Page, Store } from '../store/store.ts'
import { projectChatMessage } from '../views/chat-message.ts'
import { projectEntityRows } from '../views/entity-rows.ts'
import { toIsoDate } from '../views/iso-date.ts'
import { projectUiMessage } from '../views/ui-message.ts'
import { projectVercelMessage } from '../views/vercel-message.ts'

export const exportFormats = ['ui', 'vercel', 'entities', 'chat'] as const
/** How messages are written; `importThreads` reads each of them back. */
export type ExportFormat = (typeof exportFormats)[number]

const pageSize = 50
const pageBytes = 1_048_576

/** The messages of a thread in a format, oldest first, as `importThreads` reads them back. */
export async function* exportThread(
  store: Store,
  threadId: ThreadId,
  format: ExportFormat,
): AsyncGenerator<object> {
  for await (const message of readForward(store, threadId)) yield* project(message, format)
}

/** The same in the envelope of threads, as JSON text, piece by piece. */
export async function* exportThreads(
  store: Store,
  threads: AsyncIterable<ThreadRecord> | Iterable<ThreadRecord>,
  format: ExportFormat,
): AsyncGenerator<string> {
  let isFirst = true
  yield '{"threads":['
  for await (const { id, title, createdAt, ownerId: owner } of threads) {
    const order = 'oldest-first'
    const head = JSON.stringify({ id, title, createdAt: toIsoDate(createdAt), owner, order })
    yield `${isFirst ? '' : ','}\n${head.slice(0, -1)},"messages":[`
    let comma = ''
    for await (const message of exportThread(store, id, format)) {
      yield `${comma}\n${JSON.stringify(message)}`
      comma = ','
    }
    yield ']}'
    isFirst = false
  }
  yield '\n]}\n'
}

/**
 * Oldest first, a bounded page at a time, so that an export costs what its largest message costs. What is added
 * meanwhile is left for the next export.
 */
async function* readForward(store: Store, threadId: ThreadId): AsyncGenerator<Message> {
  const thread = await store.readThread(threadId)
  if (thread === null) throw new HoldfastError('thread-not-found', 'There is no such thread.')
  for (let after: Seq | undefined = 0; after !== undefined;) {
    const page: Page | null = await store.readPage({
      threadId,
      limit: pageSize,
      before: after,
      order: 'oldest-first',
      live: 'include',
      results: 'full',
      maxBytes: pageBytes,
    })
    for (const message of page?.messages ?? []) if (message.seq <= thread.seq) yield message
    const last: Seq | undefined = page?.messages.at(-1)?.seq
    after = page?.hasMore === true && last !== undefined && last < thread.seq ? last : undefined
  }
}

function project(message: Message, format: ExportFormat): readonly object[] {
  switch (format) {
    case 'ui': {
      const shown = projectUiMessage(message, { sdk: 7 })
      // The format has no dates; one more field beside its own is passed over by those who know none.
      return shown === null ? [] : [{ ...shown, createdAt: toIsoDate(message.createdAt) }]
    }
    case 'vercel':
      return [projectVercelMessage(message)].filter((shown) => shown !== null)
    case 'entities':
      return projectEntityRows(message)
    case 'chat':
      return [projectChatMessage(message)].filter((shown) => shown !== null)
  }
}
