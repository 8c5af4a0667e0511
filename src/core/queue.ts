import { assertNever } from './assert-never.ts'
import type { NewEvent } from './event.ts'
import type { MessageId } from './ids.ts'
import { isJsonObject } from './json.ts'
import type { Turn, UserPart } from './message.ts'
import type { InputMode, InputQueue, QueuedInput } from './queued-input.ts'

/**
 * The one function from events to the queue: writers, stores, followers and the audit all use it. Returns the
 * same array where nothing changed.
 */
export function foldQueue(queue: InputQueue, event: QueueEvent): InputQueue {
  switch (event.type) {
    case 'input-queued':
      return insert(withoutInput(queue, event.input.id), {
        ...event.input,
        held: false,
        at: event.at,
      })
    case 'input-revised':
      return revise(queue, event)
    case 'input-withdrawn':
    case 'input-joined':
      return withoutInput(queue, event.messageId)
    case 'message-added':
      return withoutAnswered(queue, event.messageId)
    case 'queue-held':
      return holdAll(queue)
    case 'queue-released':
      return queue.some(({ held }) => held)
        ? queue.map((input) => (input.held ? { ...input, held: false } : input))
        : queue
    // A rewrite removes messages for good, and with them what happened to queued inputs; a rewrite is refused
    // while any input waits.
    case 'messages-retired':
      return event.from === undefined || queue.length === 0 ? queue : []
    default:
      return assertNever(event)
  }
}

const queueEventTypes = [
  'input-queued',
  'input-revised',
  'input-withdrawn',
  'queue-held',
  'queue-released',
  'message-added',
  'input-joined',
  'messages-retired',
] as const

/** The events that can change the queue. */
export type QueueEvent = Extract<NewEvent, { readonly type: (typeof queueEventTypes)[number] }>

const typeSet: ReadonlySet<string> = new Set(queueEventTypes)

/** Whether an event can change the queue. */
export const isQueueEvent = (event: { readonly type: string }): event is QueueEvent =>
  typeSet.has(event.type)

/** Whether an event only changes the queue. Its writer must have read the queue first. */
export const isAboutQueue = ({ type }: { readonly type: string }): boolean =>
  /^(?:input-(?:queued|revised|withdrawn)|queue-(?:held|released))$/.test(type)

/** Several events. */
export const foldQueueEvents = (
  queue: InputQueue,
  events: readonly { readonly type: string }[],
): InputQueue => events.filter(isQueueEvent).reduce(foldQueue, queue)

/** The part of a change that matters to the queue. */
type QueueChange =
  | { readonly kind: 'event'; readonly event: { readonly type: string } }
  | { readonly kind: 'turn'; readonly turn: Turn }

/**
 * The same for changes as a follower receives them: of a snapshotted turn, the inputs that joined it are in
 * its state alone.
 */
export function foldQueueChange(queue: InputQueue, change: QueueChange): InputQueue {
  if (change.kind === 'event') {
    return isQueueEvent(change.event) ? foldQueue(queue, change.event) : queue
  }
  if (queue.length === 0) return queue
  return joinedInputs(change.turn).reduce(withoutInput, queue)
}

/** Whether a change can have changed the queue. */
export const canChangeQueue = (change: QueueChange): boolean =>
  change.kind === 'turn' ? joinedInputs(change.turn).length > 0 : isQueueEvent(change.event)

/** The ids of the inputs that joined a turn. */
export const joinedInputs = (turn: Pick<Turn, 'steps'>): readonly MessageId[] =>
  turn.steps.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === 'steering' ? [part.id] : [])),
  )

const withoutInput = (queue: InputQueue, id: MessageId): InputQueue =>
  queue.some((input) => input.id === id) ? queue.filter((input) => input.id !== id) : queue

/** Interrupts come before all other inputs, in the order of arrival: each stops the turn of the one before it. */
function insert(queue: InputQueue, input: QueuedInput): InputQueue {
  if (input.mode !== 'interrupt') return [...queue, input]
  const at = queue.findIndex(({ mode }) => mode !== 'interrupt')
  return at === -1 ? [...queue, input] : queue.toSpliced(at, 0, input)
}

/** The turn that the inputs with `steer` were to join is over, so each of them waits for its own turn. */
function withoutAnswered(queue: InputQueue, id: MessageId): InputQueue {
  const others = withoutInput(queue, id)
  if (others === queue) return queue
  return others.map((input) => (input.mode === 'steer' ? { ...input, mode: 'queue' } : input))
}

/**
 * The turn that they were to steer or to interrupt is over: they wait for their own turns, after a person
 * releases them.
 */
const holdAll = (queue: InputQueue): InputQueue =>
  queue.every(({ held }) => held)
    ? queue
    : queue.map((input) => (input.held ? input : { ...input, mode: 'queue', held: true }))

function revise(
  queue: InputQueue,
  { messageId, parts, before }: Extract<NewEvent, { readonly type: 'input-revised' }>,
): InputQueue {
  const waiting = queue.find(({ id }) => id === messageId)
  if (waiting === undefined) return queue
  const revised = parts === undefined ? waiting : { ...waiting, parts }
  if (before === undefined || before === messageId) {
    return queue.map((input) => (input === waiting ? revised : input))
  }
  const others = queue.filter((input) => input !== waiting)
  const at = before === null ? -1 : others.findIndex(({ id }) => id === before)
  return at === -1 ? [...others, revised] : others.toSpliced(at, 0, revised)
}

/** The first input to be answered once no turn runs. */
export const firstReady = (queue: InputQueue): QueuedInput | undefined =>
  queue.find(({ held }) => !held)

/** The input that the running turn is stopped for. */
export const findInterrupt = (queue: InputQueue): QueuedInput | undefined =>
  queue.find(({ held, mode }) => !held && mode === 'interrupt')

/** The inputs that join the running turn at its next step. */
export const steeringOf = (queue: InputQueue): InputQueue =>
  queue.filter(({ held, mode }) => !held && mode === 'steer')

/** At most this many inputs are queued in a thread, and this many characters of JSON (IN6). */
export const mostQueued = 50
const mostQueuedChars = 1_048_576

/** Whether more inputs wait than may. */
export const isQueueFull = (queue: InputQueue): boolean =>
  queue.length > mostQueued || JSON.stringify(queue).length > mostQueuedChars

/** The queue as the text column of the thread's row. */
export const toQueueText = (queue: InputQueue): string => JSON.stringify(queue)

/**
 * A value that cannot be parsed counts as an empty queue, so that a damaged column never hides the thread
 * (LG7).
 */
export function parseQueue(value: unknown): InputQueue {
  if (typeof value === 'string') {
    if (value === '[]') return []
    try {
      return parseQueue(JSON.parse(value) as unknown)
    } catch {
      // Not JSON: counts as empty, as above.
      return []
    }
  }
  return Array.isArray(value) ? (value as readonly unknown[]).flatMap(toQueuedInput) : []
}

const modes: ReadonlySet<unknown> = new Set<InputMode>(['queue', 'steer', 'interrupt'])

function toQueuedInput(value: unknown): readonly QueuedInput[] {
  if (!isJsonObject(value)) return []
  const { id, mode, parts, metadata, choices, held, at } = value
  if (typeof id !== 'string' || !modes.has(mode) || !Array.isArray(parts)) return []
  return [
    {
      id,
      mode: mode as InputMode,
      parts: parts as readonly UserPart[],
      ...(metadata === undefined ? {} : { metadata }),
      ...(choices === undefined ? {} : { choices }),
      held: held === true,
      at: Number(at),
    },
  ]
}
