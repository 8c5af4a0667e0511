import { randomBytes } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { FileId } from '../../core/file.ts'
import { HoldfastError } from '../../core/holdfast-error.ts'
import type { CallId, Seq, ThreadId } from '../../core/ids.ts'
import { callsOf, isTurn, type Message } from '../../core/message.ts'
import { filesInJson, filesInMessage } from '../../core/named-files.ts'
import type { Share, ShareId } from '../../core/share.ts'
import { isAnother } from '../../core/thread-place.ts'
import type { ThreadRecord } from '../../core/thread.ts'
import { bytesPerSlice } from '../../store/pacer.ts'
import { attemptWhileStale } from '../../store/retry-while-stale.ts'
import type { ShareRecords } from '../../store/share-records.ts'
import type { Page } from '../../store/store.ts'
import { toSharedMessage } from '../../views/shared-message.ts'
import { pauseOf } from '../clock.ts'
import type { Engine } from '../engine.ts'
import { hasSwitched } from './fork-thread.ts'
import { findThread, type ThreadScope } from '../thread-scope.ts'

/** The result of `shares.create`. */
export type ShareResult =
  | { readonly kind: 'shared'; readonly share: Share }
  /** The thread contains nothing that has been answered. */
  | { readonly kind: 'nothing-to-share' }
  | { readonly kind: 'no-thread' }

const mostShares = 50
/** An unfinished copy older than this was left behind by a process that died. */
const unfinishedMs = 3_600_000
const messagesAtOnce = 100
/**
 * A turn that ends while the thread is copied restarts the copy, so that the answer is in it; the last attempt goes
 * without it.
 */
const mostAttempts = 5

/** Copies what is visible of a thread at one seq, and creates a link to the copy (FK5). */
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

/** 192 bits from the system: the host application's `newId` need not be unguessable, and this id must be. */
const newShareId = (): ShareId => `shr_${randomBytes(24).toString('base64url')}`

/** `stale`: the visible messages changed while they were copied, so the copy matches no single seq. */
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
    ...{ id, threadId, incarnation: thread.incarnation, at },
    ...{ most: mostShares, unfinishedBefore: at - unfinishedMs },
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
    const copied = await copyThread(engine, records, id, thread, isLastAttempt)
    if (copied === null) return { kind: 'no-thread' }
    if (copied === 'stale') return 'stale'
    const { seq, count, files, calls } = copied
    if (count === 0) return { kind: 'nothing-to-share' }
    isDone = await records.finish({ id, seq, title: thread.title, files, calls })
    if (!isDone) return { kind: 'no-thread' }
    return { kind: 'shared', share: { id, threadId, seq, createdAt: at } }
  } finally {
    // The unfinished copy cannot be read; should its removal fail, the next share removes it.
    if (!isDone) await records.remove(threadId, id).catch(() => false)
  }
}

interface CopiedThread {
  readonly seq: Seq
  readonly count: number
  readonly files: readonly FileId[]
  readonly calls: readonly CallId[]
}

/**
 * What is visible at the seq of the first read, oldest first and in pages, so that a long thread does not block the
 * process (OP7).
 */
async function copyThread(
  { store }: Engine,
  records: ShareRecords,
  id: ShareId,
  { id: threadId, ownerId, incarnation = '' }: ThreadRecord,
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
      ...{ live: 'include', results: 'lazy', maxBytes: bytesPerSlice },
    })
    // Somebody else may have created a thread under this id since its owner was checked.
    if (page === null || page.ownerId !== ownerId) return null
    if (isAnother(incarnation, page.place?.incarnation ?? '')) return 'stale'
    const from = (seq ??= page.seq)
    const texts: { nth: number; body: string }[] = []
    for (const message of page.messages) {
      if (message.seq > from) continue
      if (isLater(message, from)) {
        // The turn ended or changed since the first read: a restarted copy contains its new state.
        if (message.progress.status === 'ended' && !isLastAttempt) return 'stale'
        continue
      }
      const shown = toSharedMessage(message, count + 1)
      if (shown === null) continue
      const body = JSON.stringify(shown)
      for (const file of filesInMessage(shown)) files.add(file)
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

/** Files that a large result refers to can be read through the link too. */
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
    if (output.kind === 'omitted') continue
    for (const file of filesInJson(output.value)) files.add(file)
  }
  return files
}
