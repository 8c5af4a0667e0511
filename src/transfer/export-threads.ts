import { HoldfastError } from '../core/holdfast-error.ts'
import type { Seq, ThreadId } from '../core/ids.ts'
import type { Message } from '../core/message.ts'
import type { ThreadRecord } from '../core/thread.ts'
import type { Page, ResultMode, Store } from '../store/store.ts'
import { projectChatMessage } from '../views/chat-message.ts'
import { projectEntityRows } from '../views/entity-rows.ts'
import { toIsoDate } from '../views/iso-date.ts'
import { projectUiMessage } from '../views/ui-message.ts'
import { projectVercelMessage } from '../views/vercel-message.ts'

export const exportFormats = ['ui', 'vercel', 'entities', 'chat'] as const
/** How messages are written; `importThreads` reads each of them back. */
export type ExportFormat = (typeof exportFormats)[number]

const pageSize = 50

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
 * Oldest first, though pages are read from the newest back: the first walk only notes where pages
 * begin. What is added meanwhile is left for the next export, and nothing is written twice if
 * something is retired.
 */
async function* readForward(store: Store, threadId: ThreadId): AsyncGenerator<Message> {
  const thread = await store.readThread(threadId)
  if (thread === null) throw new HoldfastError('thread-not-found', 'There is no such thread.')
  const read = (before: Seq, results: ResultMode) =>
    store.readPage({ threadId, limit: pageSize, before, live: 'include', results })
  const starts: Seq[] = []
  for (let before: Seq | undefined = thread.seq + 1; before !== undefined;) {
    starts.push(before)
    const page: Page | null = await read(before, 'lazy')
    before = page?.hasMore === true ? page.messages.at(-1)?.seq : undefined
  }
  let last: Seq = 0
  for (const before of starts.toReversed()) {
    const page = await read(before, 'full')
    for (const message of page?.messages.toReversed() ?? []) {
      if (message.seq <= last) continue
      yield message
      last = message.seq
    }
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
