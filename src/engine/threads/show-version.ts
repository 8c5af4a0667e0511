import type { NewEvent, NewThreadEvent } from '../../core/event.ts'
import { type MessageId, parseThreadId, type Seq, type ThreadId } from '../../core/ids.ts'
import { callsOf, type Message, type Turn } from '../../core/message.ts'
import { planTurnEnd } from '../../core/plan-turn-end.ts'
import { type MessageVersion, toVersionId } from '../../core/versions.ts'
import { HoldfastError } from '../../core/holdfast-error.ts'
import { isAnother } from '../../core/thread-place.ts'
import type { VersionPath } from '../../store/version-path.ts'
import { pacerOf, pauseOf } from '../clock.ts'
import type { Engine } from '../engine.ts'
import { createRunHooks } from '../telemetry/hooks.ts'
import { toolboxOf } from '../agent/known-tools.ts'
import { takeOver } from '../run/recover.ts'
import { bytesPerSlice } from '../../store/pacer.ts'
import { retryWhileStale } from '../../store/retry-while-stale.ts'
import { findThread, type ThreadScope } from '../thread-scope.ts'

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
  return retryWhileStale(pauseOf(clock), async (): Promise<ShowResult | 'stale'> => {
    const [found, path] = await Promise.all([
      findThread(store, threadId, scope),
      store.readPath(threadId, target),
    ])
    if (found === null) return { kind: 'no-thread' }
    if (path === null) return { kind: 'no-message' }
    const left = await readLeft(engine, threadId, path)
    if (left === null) return 'stale'
    const { id: messageId } = path.wanted
    const wanted = { messageId, version: toVersionId(path.wanted.role, path.wanted) }
    if (path.show.length === 0) return { kind: 'shown', ...wanted, seq: path.seq, effects: [] }
    const open = left.find(
      (message): message is Turn =>
        message.role === 'assistant' && message.progress.status !== 'ended',
    )
    if (open?.progress.status === 'running') {
      // Its process may be dead. Then the turn is taken over, and ends at some point.
      await takeOver(engine, threadId)
      return { kind: 'run-active', turnId: open.id }
    }
    // Inputs that are queued behind a waiting turn would never be answered once that turn is superseded (IN2).
    if (open !== undefined && found.queue.some(({ held }) => !held)) {
      return found.seq === path.seq ? { kind: 'run-active', turnId: open.id } : 'stale'
    }
    const { ownerId, seq: expectedSeq, incarnation } = path
    const effects = await findEffects(engine, ownerId, threadId, left)
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
  })
}

/** The number of messages read at once. */
const atOnce = 100

const isRunning = (message: Message | undefined): boolean =>
  message?.role === 'assistant' && message.progress.status === 'running'

/**
 * The messages that become hidden, newest first; null if the thread has changed since the path was read. If the newest is
 * a turn that runs, it alone is enough to refuse, and the rest would be stale before it is read.
 */
async function readLeft(
  { store }: Engine,
  threadId: ThreadId,
  { seq, incarnation = '', hide }: VersionPath,
): Promise<readonly Message[] | null> {
  const messages: Message[] = []
  const first = hide[0]?.seq ?? 0
  for (let before: Seq | null = null; messages.length < hide.length;) {
    const limit = Math.min(atOnce, hide.length - messages.length)
    const query = { threadId, limit, before, live: 'include', results: 'lazy' } as const
    const page = await store.readPage({ ...query, maxBytes: bytesPerSlice })
    if (before === null && isRunning(page?.messages[0])) return page?.messages.slice(0, 1) ?? null
    if (page === null || page.seq !== seq || page.messages.length === 0) return null
    if (isAnother(incarnation, page.place?.incarnation ?? '')) return null
    messages.push(...page.messages)
    before = page.messages.at(-1)?.seq ?? null
    if ((before ?? 0) < first) return null
  }
  return messages
}

/** Calls whose effect is not undone by hiding them: they succeeded or may have, and are not repeatable (VR3). */
async function findEffects(
  engine: Engine,
  ownerId: string,
  threadId: ThreadId,
  left: readonly Message[],
): Promise<readonly LastingEffect[]> {
  const effects: LastingEffect[] = []
  const pace = pacerOf(engine.clock)
  for (const turn of left.toReversed()) {
    if (turn.role !== 'assistant') continue
    await pace()
    const done = [...callsOf(turn)].flatMap(({ id, name, state, providerExecuted }) =>
      providerExecuted !== true && (state === 'succeeded' || state === 'unknown')
        ? [{ messageId: turn.id, toolCallId: id, name, state }]
        : [],
    )
    if (done.length === 0) continue
    const isRepeatable = await repeatability(engine, { ownerId, threadId, turnId: turn.id }, turn)
    effects.push(...done.filter(({ name }) => !isRepeatable(name)))
  }
  return effects
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
