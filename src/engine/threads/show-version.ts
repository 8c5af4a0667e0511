import type { NewEvent, NewThreadEvent } from '../../core/event.ts'
import { type MessageId, parseThreadId, type Seq, type ThreadId } from '../../core/ids.ts'
import { callsOf, type Turn } from '../../core/message.ts'
import { planTurnEnd } from '../../core/plan-turn-end.ts'
import { type MessageVersion, toVersionId } from '../../core/versions.ts'
import { HoldfastError } from '../../core/holdfast-error.ts'
import { isAnother } from '../../core/thread-place.ts'
import type { ThreadRecord } from '../../core/thread.ts'
import type { VersionPath } from '../../store/version-path.ts'
import { pacerOf, pauseOf } from '../clock.ts'
import type { Engine } from '../engine.ts'
import { createRunHooks } from '../telemetry/hooks.ts'
import { toolboxOf } from '../agent/known-tools.ts'
import { takeOver } from '../run/recover.ts'
import { bytesPerSlice } from '../../store/pacer.ts'
import { retryWhileStale } from '../../store/retry-while-stale.ts'
import { findThread, type ThreadScope } from '../thread-scope.ts'
import { enterLongEdit, longEditMessages } from './long-edits.ts'

/** A call whose effect remains although it is no longer visible (VR3). */
export interface LastingEffect {
  readonly messageId: MessageId
  readonly toolCallId: string
  /** The name of the tool. */
  readonly name: string
  /** `unknown`: it started, and its end was never seen. */
  readonly state: 'succeeded' | 'unknown'
}

/** The result of `show`. */
export type ShowResult =
  | {
      readonly kind: 'shown'
      /** The message that is visible now, or was already. */
      readonly messageId: MessageId
      /** The id of this version. */
      readonly version: string
      /** The thread's seq after it. */
      readonly seq: Seq
      /** Calls on the path that was left which took effect and are not repeatable: hiding them does not undo them. */
      readonly effects: readonly LastingEffect[]
    }
  /** A turn is being produced, or inputs are queued behind one that waits. Nothing was changed. */
  | { readonly kind: 'run-active'; readonly turnId: MessageId }
  /** The thread has no such message, or it was withdrawn. */
  | { readonly kind: 'no-message' }
  | { readonly kind: 'no-thread' }

/** The event that hides messages, oldest first, and keeps them as versions. */
export const planHiding = (
  messages: readonly MessageVersion[],
  after: Seq,
  at: number,
): NewThreadEvent => ({
  type: 'messages-retired',
  at,
  messageIds: messages.map(({ id }) => id),
  kept: { after, places: messages.map(({ seq }) => seq) },
})

/**
 * Shows another version, and the thread below it as it was left, in one commit (VR2). A turn that waits for a person is
 * superseded, as by a message (AP8).
 */
export async function showVersion(
  engine: Engine,
  thread: string,
  target: string,
  scope: ThreadScope = {},
): Promise<ShowResult> {
  const { store, clock, emit } = engine
  const threadId = parseThreadId(thread)
  if (typeof target !== 'string' || target === '') {
    throw new HoldfastError('bad-id', 'The id of a version is a string.')
  }
  const attempt = async (found: ThreadRecord): Promise<ShowResult | 'stale'> => {
    const path = await store.readPath(threadId, target)
    if (path === null) return { kind: 'no-message' }
    // The owner was compared on the thread that was found.
    if (isAnother(found.incarnation ?? '', path.incarnation ?? '')) return 'stale'
    const left = await readLeft(engine, threadId, path)
    if (left === null) return 'stale'
    const { open, effects } = left
    const { id: messageId } = path.wanted
    const wanted = { messageId, version: toVersionId(path.wanted.role, path.wanted) }
    if (path.show.length === 0) return { kind: 'shown', ...wanted, seq: path.seq, effects: [] }
    if (open?.progress.status === 'running') {
      // Its process may be dead. Then the turn is taken over, and ends at some point.
      await takeOver(engine, threadId)
      return { kind: 'run-active', turnId: open.id }
    }
    // Inputs that are queued behind a waiting turn would never be answered once that turn is superseded (IN2). The queue
    // was read with the thread, and one may have come since.
    if (open !== undefined && found.seq !== path.seq) return 'stale'
    if (open !== undefined && found.queue.some(({ held }) => !held)) {
      return { kind: 'run-active', turnId: open.id }
    }
    const { ownerId, seq: expectedSeq, incarnation } = path
    const at = clock.now()
    const ending = { kind: 'superseded', by: 'show' } as const
    const events: readonly NewEvent[] = [
      ...(open === undefined ? [] : planTurnEnd(open, ending, at)),
      ...(path.hide.length === 0 ? [] : [planHiding(path.hide, path.after, at)]),
      { type: 'messages-shown', at, places: path.show.map(({ seq }) => seq) },
    ]
    const turns = open === undefined ? [] : [open]
    const result = await engine.append({ threadId, events, expectedSeq, incarnation, turns })
    switch (result.kind) {
      case 'appended':
        if (open !== undefined) {
          const hooks = createRunHooks({ ownerId, threadId, turnId: open.id }, emit, clock.now)
          hooks.turnEnded(ending, open)
        }
        return { kind: 'shown', ...wanted, seq: result.seq, effects }
      case 'stale':
        return 'stale'
      case 'no-thread':
        return { kind: 'no-thread' }
      default:
        throw new HoldfastError('store-failed', `The version could not be shown: ${result.kind}.`)
    }
  }
  return retryWhileStale(pauseOf(clock), async () => {
    // Before the path is read, which may be as long as the thread: the owner, and how long it can be. The queue comes from
    // this read too.
    const found = await findThread(store, threadId, scope)
    if (found === null) return { kind: 'no-thread' }
    // A thread has no more messages than events.
    if (found.seq <= longEditMessages) return attempt(found)
    const leave = await enterLongEdit(store, found.ownerId)
    // That may have taken long, and an attempt on an old read would be stale and wait once more.
    const again = async () => {
      const thread = await findThread(store, threadId, scope)
      return thread === null ? ({ kind: 'no-thread' } as const) : attempt(thread)
    }
    return again().finally(leave)
  })
}

/** The number of messages read at once. */
const atOnce = 100

/** What matters of the messages that become hidden. */
interface Left {
  /** The turn that has not ended. */
  readonly open: Turn | undefined
  readonly effects: readonly LastingEffect[]
}

/**
 * Reads the messages that become hidden, and keeps none of them: they may be a whole long thread (OP7). Null if the thread
 * has changed since the path was read. If the newest is a turn that runs, it alone is enough to refuse, and the rest would
 * be stale before it is read.
 */
async function readLeft(
  engine: Engine,
  threadId: ThreadId,
  { ownerId, seq, incarnation = '', hide }: VersionPath,
): Promise<Left | null> {
  const effects: LastingEffect[] = []
  const first = hide[0]?.seq ?? 0
  const pace = pacerOf(engine.clock)
  let open: Turn | undefined
  let read = 0
  for (let before: Seq | null = null; read < hide.length;) {
    const limit = Math.min(atOnce, hide.length - read)
    const query = { threadId, limit, before, live: 'include', results: 'lazy' } as const
    const page = await engine.store.readPage({ ...query, maxBytes: bytesPerSlice })
    if (page === null) return null
    const [newest] = page.messages
    if (before === null && newest?.role === 'assistant' && newest.progress.status === 'running') {
      return { open: newest, effects: [] }
    }
    if (page.seq !== seq || newest === undefined) return null
    if (isAnother(incarnation, page.place?.incarnation ?? '')) return null
    for (const message of page.messages) {
      if (message.role !== 'assistant') continue
      if (message.progress.status !== 'ended') open ??= message
      await pace()
      effects.push(...(await findEffects(engine, ownerId, threadId, message)).toReversed())
    }
    read += page.messages.length
    before = page.messages.at(-1)?.seq ?? null
    if ((before ?? 0) < first) return null
  }
  // Read from the newest on.
  return { open, effects: effects.reverse() }
}

/** Calls whose effect is not undone by hiding them: they succeeded or may have, and are not repeatable (VR3). */
async function findEffects(
  engine: Engine,
  ownerId: string,
  threadId: ThreadId,
  turn: Turn,
): Promise<readonly LastingEffect[]> {
  const done = [...callsOf(turn)].flatMap(({ id, name, state, providerExecuted }) =>
    providerExecuted !== true && (state === 'succeeded' || state === 'unknown')
      ? [{ messageId: turn.id, toolCallId: id, name, state }]
      : [],
  )
  if (done.length === 0) return done
  const isRepeatable = await repeatability(engine, { ownerId, threadId, turnId: turn.id }, turn)
  return done.filter(({ name }) => !isRepeatable(name))
}

/** If the agent cannot be resolved, no tool counts as repeatable: better one warning too many. */
async function repeatability(
  engine: Engine,
  place: { readonly ownerId: string; readonly threadId: ThreadId; readonly turnId: MessageId },
  turn: Turn,
): Promise<(name: string) => boolean> {
  try {
    return (await toolboxOf(engine, place, turn)).isRepeatable
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== 'agent-failed') throw error
    return () => false
  }
}
