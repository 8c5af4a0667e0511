import { randomBytes } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { type FileId, fileIdsIn } from '../core/file.ts'
import { HoldfastError } from '../core/holdfast-error.ts'
import type { CallId, Seq, ThreadId } from '../core/ids.ts'
import { callsOf, isTurn, type Message } from '../core/message.ts'
import type { Share, ShareId } from '../core/share.ts'
import { attemptWhileStale } from '../store/retry-while-stale.ts'
import type { ShareRecords } from '../store/share-records.ts'
import type { Page } from '../store/store.ts'
import { toSharedMessage } from '../views/shared-message.ts'
import { pauseOf } from './clock.ts'
import type { Engine } from './engine.ts'
import { hasSwitched } from './fork-thread.ts'
import { findThread, type ThreadScope } from './thread-scope.ts'

/** What became of a wish to share a thread. */
export type ShareResult =
  | { readonly kind: 'shared'; readonly share: Share }
  /** There is nothing in it that has been said and answered. */
  | { readonly kind: 'nothing-to-share' }
  | { readonly kind: 'no-thread' }

const mostShares = 50
/** One that nobody has finished for so long is the rest of a process that died. */
const unfinishedMs = 3_600_000
const messagesAtOnce = 100
const bytesAtOnce = 1_048_576
/** A turn that ends while the thread is copied makes it begin again, so that the answer is in it; then it goes without. */
const mostAttempts = 5

/** Copies what is shown of a thread at one moment, and gives the copy a link (FK5). */
export async function shareThread(
  engine: Engine,
  records: ShareRecords,
  threadId: ThreadId,
  scope: ThreadScope | undefined,
): Promise<ShareResult> {
  let attempts = 0
  const attempt = () => tryToShare(engine, records, threadId, scope, ++attempts === mostAttempts)
  const result = await attemptWhileStale(pauseOf(engine.clock), attempt, mostAttempts)
  if (result !== 'stale') return result
  throw new HoldfastError('store-failed', 'The thread changed too often to be shared.')
}

/** 192 bits from the system: the host's own `newId` need not be unguessable, and this has to be. */
const newShareId = (): ShareId => `shr_${randomBytes(24).toString('base64url')}`

/** `stale`: what is shown changed while it was copied, so that the copy is of no one moment. */
async function tryToShare(
  engine: Engine,
  records: ShareRecords,
  threadId: ThreadId,
  scope: ThreadScope | undefined,
  isLastAttempt: boolean,
): Promise<ShareResult | 'stale'> {
  const { store, clock } = engine
  const thread = await findThread(store, threadId, scope)
  if (thread === null) return { kind: 'no-thread' }
  const id = newShareId()
  const at = clock.now()
  const begun = await records.begin({
    ...{ id, threadId, at, most: mostShares, unfinishedBefore: at - unfinishedMs },
  })
  if (begun === 'no-thread') return { kind: 'no-thread' }
  if (begun === 'full') {
    throw new HoldfastError(
      'shares-full',
      `A thread has at most ${mostShares} links. Revoke one that is no longer needed.`,
    )
  }
  let isDone = false
  try {
    const copied = await copyThread(engine, records, id, threadId, isLastAttempt)
    if (copied === null) return { kind: 'no-thread' }
    if (copied === 'stale') return 'stale'
    const { seq, count, files, calls } = copied
    if (count === 0) return { kind: 'nothing-to-share' }
    isDone = await records.finish({ id, seq, title: thread.title, files, calls })
    if (!isDone) return { kind: 'no-thread' }
    return { kind: 'shared', share: { id, threadId, seq, createdAt: at } }
  } finally {
    // Nobody can read it, and the next one who shares finds it, should this fail.
    if (!isDone) await records.remove(threadId, id).catch(() => false)
  }
}

interface CopiedThread {
  readonly seq: Seq
  readonly count: number
  readonly files: readonly FileId[]
  readonly calls: readonly CallId[]
}

/** What is shown at the seq of the first read, oldest first and in pages, so that nobody waits for a long thread (OP7). */
async function copyThread(
  { store }: Engine,
  records: ShareRecords,
  id: ShareId,
  threadId: ThreadId,
  isLastAttempt: boolean,
): Promise<CopiedThread | 'stale' | null> {
  const files = new Set<FileId>()
  const calls: CallId[] = []
  let seq: Seq | undefined
  let after: Seq = 0
  let count = 0
  for (;;) {
    const page: Page | null = await store.readPage({
      ...{ threadId, limit: messagesAtOnce, before: after, order: 'oldest-first' },
      ...{ live: 'include', results: 'lazy', maxBytes: bytesAtOnce },
    })
    if (page === null) return null
    const from = (seq ??= page.seq)
    const texts: { nth: number; body: string }[] = []
    for (const message of page.messages) {
      if (message.seq > from) continue
      if (isLater(message, from)) {
        // It ended, or was changed, since: begun again, it is in it as it is then.
        if (message.progress.status === 'ended' && !isLastAttempt) return 'stale'
        continue
      }
      const shown = toSharedMessage(message, count + 1)
      if (shown === null) continue
      const body = JSON.stringify(shown)
      for (const file of fileIdsIn(body)) files.add(file)
      for (const call of isTurn(shown) ? callsOf(shown) : []) {
        if (call.state === 'succeeded' && call.output.kind === 'omitted') calls.push(call.id)
      }
      texts.push({ nth: ++count, body })
    }
    if (texts.length > 0) await records.add(id, texts)
    after = page.messages.at(-1)?.seq ?? after
    if (page.hasMore && after < from) {
      await setImmediate()
      continue
    }
    if (page.seq !== from && (await hasSwitched(store, threadId, from))) return 'stale'
    for (const file of await filesInResults(store, threadId, calls)) files.add(file)
    return { seq: from, count, files: [...files], calls }
  }
}

const isLater = (
  message: Message,
  seq: Seq,
): message is Extract<Message, { readonly role: 'assistant' }> =>
  isTurn(message) && message.lastSeq > seq

/** What a large result names can be read through the link too. */
async function* readResults(store: Engine['store'], threadId: ThreadId, calls: readonly CallId[]) {
  for (const callId of calls) {
    const found = await store.readCall(threadId, callId, 'lazy')
    if (found?.call.state === 'succeeded') yield found.call.output
    await setImmediate()
  }
}

async function filesInResults(
  store: Engine['store'],
  threadId: ThreadId,
  calls: readonly CallId[],
): Promise<ReadonlySet<FileId>> {
  const files = new Set<FileId>()
  if (store.files === undefined) return files
  for await (const output of readResults(store, threadId, calls)) {
    for (const file of fileIdsIn(JSON.stringify(output))) files.add(file)
  }
  return files
}
