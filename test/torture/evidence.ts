import type { Memory } from './fleet.ts'
import { onceOnly } from './torture-model.ts'
import { isJsonObject } from '../../src/core/json.ts'

/** What readers were sent over HTTP, whatever became of the connection afterwards. */
export class Shown {
  readonly turns = new Map<string, ShownTurn>()
  /** The ids of user messages that were taken, by thread. */
  readonly messages = new Map<string, Set<string>>()

  addMessage(threadId: string, messageId: string): void {
    const known = this.messages.get(threadId) ?? new Set()
    this.messages.set(threadId, known.add(messageId))
  }

  turnOf(threadId: string, turnId: string): ShownTurn {
    const known = this.turns.get(turnId) ?? new ShownTurn(threadId)
    this.turns.set(turnId, known)
    return known
  }
}

class ShownTurn {
  readonly threadId: string
  /** Pieces of text, each as far as anybody has seen it. */
  texts: readonly string[] = []
  /** Calls, with the results that were shown as final (as JSON). */
  readonly calls = new Map<string, string | undefined>()
  /** Calls of which two results were shown. */
  readonly contradictions: string[] = []

  constructor(threadId: string) {
    this.threadId = threadId
  }

  addText(text: string): void {
    if (text === '' || this.texts.some((known) => known.startsWith(text))) return
    this.texts = [...this.texts.filter((known) => !text.startsWith(known)), text]
  }

  addCall(callId: string, result?: unknown): void {
    const before = this.calls.get(callId)
    const now = result === undefined ? before : sorted(result)
    if (before !== undefined && before !== now) this.contradictions.push(callId)
    this.calls.set(callId, now)
  }
}

/** A message of a page in the AI SDK's format. */
export interface PageMessage {
  readonly id: string
  readonly role: string
  readonly parts: readonly PagePart[]
}
interface PagePart {
  readonly type: string
  readonly text?: string
  readonly toolCallId?: string
  readonly state?: string
  readonly output?: unknown
  readonly preliminary?: boolean
}

/** A call as its own route gives it. */
export interface CallRecord {
  readonly id: string
  readonly name: string
  readonly state: string
  readonly result?: unknown
}

/** What people say of a call whose end nobody saw, where they say that it was done. */
export const personsWord = 'A person looked.'

/** Everything that is known when the run is over and what was left has been decided by people. */
export interface Evidence {
  readonly shown: Shown
  /** The messages of each thread, whole. */
  readonly pages: ReadonlyMap<string, readonly PageMessage[]>
  readonly calls: readonly CallRecord[]
  /** `name number callId` for every time that a tool really ran. */
  readonly trace: readonly string[]
  /** What never came to rest. */
  readonly stuck: readonly string[]
  /** Streams that had not ended long after nothing ran any more that they could wait for. */
  readonly endless: readonly string[]
  /** What followers saw that cannot be. */
  readonly gaps: readonly string[]
  readonly crashes: readonly string[]
  /** Of the server that lived through it all. */
  readonly memory: { readonly before: Memory; readonly after: Memory }
  /** What `holdfast check` says if it does not find everything in order. */
  readonly problems: readonly string[]
}

/** What the process may hold more than when it was idle, after a collection. RSS is what the allocator has not given back. */
const mostHeap = 48 * 1_048_576
const mostRss = 400 * 1_048_576

/** Every way in which what happened is not what was promised; the rule first. */
export function findViolations(evidence: Evidence): readonly string[] {
  return [
    ...findMissing(evidence),
    ...findDouble(evidence),
    ...evidence.stuck.map((what) => `CR1 stuck: ${what}`),
    ...evidence.endless.map((what) => `RS7 endless: ${what}`),
    ...evidence.calls
      .filter(({ state }) => openStates.has(state))
      .map(({ id, name, state }) => `CR1 open: the call ${id} (${name}) is ${state}`),
    ...evidence.gaps.map((what) => `LG1 gap: ${what}`),
    ...evidence.crashes.map((what) => `CR1 crash: a server ended by itself: ${what}`),
    ...findHeld(evidence),
    ...evidence.problems.map((what) => `CR6 check: ${what}`),
  ]
}

const openStates: ReadonlySet<string> = new Set([
  'streaming',
  'awaiting-approval',
  'ready',
  'running',
])

function* findMissing({ shown, pages }: Evidence): Generator<string> {
  for (const [threadId, ids] of shown.messages) {
    const stored = new Set(pages.get(threadId)?.map(({ id }) => id))
    for (const id of ids) {
      if (!stored.has(id)) yield `LG6 missing: the message ${id} of ${threadId}`
    }
  }
  for (const [turnId, turn] of shown.turns) {
    const page = pages.get(turn.threadId)?.find(({ id }) => id === turnId)
    if (page === undefined) {
      yield `LG4 missing: the turn ${turnId} of ${turn.threadId}`
      continue
    }
    const { parts } = page
    for (const text of turn.texts) {
      if (parts.some((part) => part.type === 'text' && part.text?.startsWith(text) === true)) {
        continue
      }
      yield `LG4 missing: text of ${turnId} in ${turn.threadId}: "${text.slice(0, 80)}" (${text.length} characters)`
    }
    const calls = new Map(parts.map((part) => [part.toolCallId, part]))
    for (const [callId, result] of turn.calls) {
      const call = calls.get(callId)
      if (call === undefined) yield `LG4 missing: the call ${callId} of ${turnId}`
      else if (result !== undefined && sorted(call.output) !== result) {
        yield `LG4 changed: the result of ${callId} was ${result}, and is ${sorted(call.output)}`
      }
    }
    for (const callId of turn.contradictions) yield `LG4 changed: the result of ${callId}`
  }
}

function* findDouble({ trace, calls }: Evidence): Generator<string> {
  const runs = new Map<string, number>()
  const traced = new Set<string>()
  for (const line of trace) {
    const [name = '', number, callId = ''] = line.split(' ')
    traced.add(callId)
    if (!onceOnly.has(name)) continue
    const what = `${name} ${number}`
    runs.set(what, (runs.get(what) ?? 0) + 1)
  }
  for (const [what, times] of runs) if (times > 1) yield `CR4 double: "${what}" ran ${times} times`
  for (const { id, name, state, result } of calls) {
    if (state !== 'succeeded' || result === personsWord) continue
    if (!traced.has(id)) yield `CR4 invented: ${name} ${id} never ran`
  }
}

/** Whether the process holds more than it should when everything is over. */
export const isHeld = (memory: Evidence['memory']): boolean => [...findHeld({ memory })].length > 0

function* findHeld({ memory: { before, after } }: Pick<Evidence, 'memory'>): Generator<string> {
  const over = (what: 'heap' | 'rss', most: number) =>
    after[what] - before[what] > most
      ? [`OP7 memory: ${what} was ${megabytes(before[what])}, and is ${megabytes(after[what])}`]
      : []
  yield* over('heap', mostHeap)
  yield* over('rss', mostRss)
}

export const megabytes = (bytes: number): string => `${(bytes / 1_048_576).toFixed(0)} MB`

/** JSON with its keys in order: PostgreSQL keeps another order than SQLite. */
const sorted = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    isJsonObject(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  ) ?? 'undefined'
