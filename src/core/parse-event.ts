import type { LedgerEvent, NewEvent } from './event.ts'
import { isRating } from './feedback.ts'
import type { MessageId, Seq } from './ids.ts'
import { isJsonObject, type JsonObject } from './json.ts'
import { deepestJson, isDeeperThan } from './json-depth.ts'

/** The columns of a stored event beside its payload. */
export interface EventColumns {
  readonly seq: Seq
  readonly at: number
  readonly turnId: MessageId | null
}

/**
 * Runs before the fold and returns an event for every row. A row that cannot be parsed keeps its seq and
 * changes nothing, so that one bad row never hides the rest (LG7).
 */
export function parseEvent({ turnId, ...columns }: EventColumns, payload: unknown): LedgerEvent {
  const where = turnId === null ? columns : { ...columns, turnId }
  const fault = isJsonObject(payload)
    ? findFault(payload, turnId !== null)
    : 'The row is not an object.'
  return fault === undefined
    ? ({ ...(payload as object), ...where } as LedgerEvent)
    : { ...where, type: 'unreadable', reason: fault }
}

/** For events from outside: the reason why one cannot be stored, or `undefined` if it can. */
export function findEventFault(event: NewEvent): string | undefined {
  if (!Number.isSafeInteger(event.at)) return '`at` is a whole number of milliseconds.'
  const fault = findFault(event as unknown as JsonObject, 'turnId' in event)
  if (fault !== undefined) return fault
  // Text deltas are flat, and they are nearly all events that are written: skip the walk for them.
  const isPiece = 'delta' in event && !('providerMetadata' in event)
  return !isPiece && isDeeperThan(event, deepestJson)
    ? `A ${event.type} is nested deeper than ${deepestJson} levels.`
    : undefined
}

type Check = (value: unknown) => boolean
type Shape = Readonly<Record<string, Check>>

const string: Check = (value) => typeof value === 'string'
const index: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0
const object: Check = isJsonObject
const present: Check = (value) => value !== undefined
const list: Check = Array.isArray
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value)
const oneOf =
  (...words: readonly string[]): Check =>
  (value) =>
    words.includes(value as string)
const tagged =
  (tag: string, ...words: readonly string[]): Check =>
  (value) =>
    isJsonObject(value) && words.includes(value[tag] as string)

const origin: Check = (value) =>
  isJsonObject(value) && string(value.id) && string(value.providerCallId) && string(value.name)
const output = tagged('kind', 'inline', 'omitted')
const outcome: Check = (value) =>
  isJsonObject(value) &&
  oneOf('succeeded', 'failed', 'denied', 'stopped', 'interrupted', 'unknown')(value.state) &&
  (value.state === 'succeeded' ? output(value.output) : string(value.cause)) &&
  (value.state !== 'failed' || (string(value.error) && optional(string)(value.modelError)))

const boolean: Check = (value) => typeof value === 'boolean'
const place: Check = (value) => index(value) && value !== 0
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check)
const versions = optional(
  listOf((value) => isJsonObject(value) && string(value.id) && place(value.seq)),
)
const kept = optional(
  (value) => isJsonObject(value) && index(value.after) && listOf(place)(value.places),
)

const isEndedTurn: Check = (value) =>
  isJsonObject(value) &&
  list(value.steps) &&
  index(value.unreadable) &&
  isJsonObject(value.progress) &&
  value.progress.status === 'ended'

const turnShapes: Readonly<Record<string, Shape>> = {
  'turn-started': {
    replyTo: (value) => value === null || string(value),
    versionOf: versions,
  },
  'step-started': { step: index, model: optional(string) },
  'text-started': { block: string, kind: oneOf('text', 'reasoning') },
  'text-appended': { block: string, delta: string },
  'text-ended': { block: string },
  'item-added': { item: (value) => isJsonObject(value) && string(value.type) },
  'call-announced': { callId: string, call: origin },
  'call-input-appended': { callId: string, delta: string },
  'call-recorded': {
    callId: string,
    call: origin,
    input: present,
    approval: oneOf('required', 'not-required'),
  },
  'call-revised': {
    callId: string,
    name: string,
    input: present,
    isPartial: boolean,
  },
  'call-approval-requested': {
    callId: string,
    request: (value) => isJsonObject(value) && string(value.id),
  },
  'call-decided': { callId: string, decision: tagged('kind', 'accepted', 'rejected') },
  'call-started': { callId: string },
  'call-progressed': { callId: string, output: present },
  'call-settled': { callId: string, outcome },
  'call-resolved': {
    callId: string,
    resolution: tagged('kind', 'retry', 'done', 'skip'),
    output: optional(output),
  },
  'step-ended': { finishReason: string, usage: optional(object) },
  'step-resumed': { model: optional(string) },
  'step-abandoned': { error: optional(object) },
  'model-replaced': { model: string, by: string, error: object },
  'input-joined': { messageId: string, parts: list },
  'turn-paused': { waitingFor: oneOf('approval', 'resolution', 'client') },
  'turn-resumed': { from: optional(oneOf('takeover', 'hand-over')) },
  'feedback-given': {
    by: string,
    rating: isRating,
    comment: optional(string),
  },
  'turn-copied': { turn: isEndedTurn },
  'turn-ended': {
    ending: tagged(
      'kind',
      'completed',
      'stopped',
      'cut-off',
      'step-limit',
      'no-answer',
      'superseded',
      'interrupted',
      'failed',
    ),
  },
}
const threadShapes: Readonly<Record<string, Shape>> = {
  'message-added': {
    messageId: string,
    role: oneOf('user', 'system'),
    parts: list,
    versionOf: versions,
  },
  'messages-retired': { messageIds: list, kept },
  'messages-shown': { places: listOf(place) },
  'thread-renamed': {
    title: string,
    by: optional(oneOf('model')),
    model: optional(string),
    usage: optional(object),
  },
  'thread-flagged': { pinned: optional(boolean), archived: optional(boolean) },
  'input-queued': {
    input: (value) =>
      isJsonObject(value) &&
      string(value.id) &&
      oneOf('queue', 'steer', 'interrupt')(value.mode) &&
      list(value.parts),
  },
  'input-revised': {
    messageId: string,
    parts: optional(list),
    before: optional((value) => value === null || string(value)),
  },
  'input-withdrawn': { messageId: string },
  'queue-held': {},
  'queue-released': {},
  'thread-forked': {
    from: (value) => isJsonObject(value) && string(value.threadId) && string(value.messageId),
  },
}

// Arrays in place of objects, because every event is checked on write and on read.
const toLists = (shapes: Readonly<Record<string, Shape>>) =>
  new Map(Object.entries(shapes).map(([type, shape]) => [type, Object.entries(shape)]))
const turnChecks = toLists(turnShapes)
const threadChecks = toLists(threadShapes)

function findFault(value: JsonObject, ofTurn: boolean): string | undefined {
  const type = typeof value.type === 'string' ? value.type : ''
  const checks = (ofTurn ? turnChecks : threadChecks).get(type)
  if (checks === undefined) return `Unknown event type "${type}".`
  for (const [field, check] of checks) {
    if (!check(value[field])) return `The field "${field}" of ${type} is invalid.`
  }
  return undefined
}
