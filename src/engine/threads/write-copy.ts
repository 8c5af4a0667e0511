import type { NewEvent } from '../../core/event.ts'
import { HoldfastError } from '../../core/holdfast-error.ts'
import type { Seq, ThreadId } from '../../core/ids.ts'
import type { ThreadToCreate } from '../../store/plan-commit.ts'
import type { ThreadStaging } from '../../store/store.ts'
import type { Engine } from '../engine.ts'
import { charsOfJson } from '../run/turn-size.ts'

/** A thread that is created with all its content. */
export interface ThreadCopy {
  readonly id: ThreadId
  readonly create: ThreadToCreate
  /** Generated while they are written: generating all of them at once would block the process. */
  readonly events: Iterable<NewEvent>
}

/** The limits of one commit: a larger one would block the event loop, and the database, for too long (OP7). */
const mostChars = 262_144
const mostEvents = 100

/**
 * Creates the thread: all of it, or nothing if the process dies. In one commit, or, where the store supports staging,
 * in many that are invisible before the last. False: a thread with this id exists.
 */
export async function writeCopy(
  engine: Engine,
  copy: ThreadCopy,
  newThreadId: () => ThreadId,
): Promise<boolean> {
  const { staging } = engine.store
  if (staging !== undefined) return writeStaged(engine, staging, copy, newThreadId())
  const { id: threadId, create } = copy
  const events = [...copy.events]
  const { kind } = await engine.append({ threadId, events, expectedSeq: 0, create })
  return kind === 'appended'
}

async function writeStaged(
  engine: Engine,
  staging: ThreadStaging,
  { id, create, events }: ThreadCopy,
  staged: ThreadId,
): Promise<boolean> {
  const { ownerId } = create
  const hidden = { ...create, ownerId: staging.ownerId }
  try {
    let expectedSeq: Seq = 0
    for (const portion of cut(events)) {
      const append = { threadId: staged, events: portion, expectedSeq, create: hidden }
      const result = await engine.append(append)
      if (result.kind !== 'appended') {
        throw new HoldfastError('store-failed', `The copy could not be stored: ${result.kind}.`)
      }
      expectedSeq = result.seq
    }
    if ((await staging.publish(staged, { id, ownerId })) === 'published') return true
  } catch (error) {
    await discard(engine, staged)
    throw error
  }
  await discard(engine, staged)
  return false
}

/** A staged thread that cannot be removed now is invisible, and the store removes it later. */
const discard = ({ store }: Engine, staged: ThreadId): Promise<unknown> =>
  store.deleteThread(staged).catch(() => undefined)

function* cut(events: Iterable<NewEvent>): Generator<readonly NewEvent[]> {
  let portion: NewEvent[] = []
  let chars = 0
  for (const event of events) {
    const size = charsOfJson(event)
    if (portion.length > 0 && (chars + size > mostChars || portion.length >= mostEvents)) {
      yield portion
      portion = []
      chars = 0
    }
    portion.push(event)
    chars += size
  }
  if (portion.length > 0) yield portion
}
