import type { CallOutcome } from '../core/call.ts'
import type { Json } from '../core/json.ts'
import { mapInSteps, type PausableWork } from '../core/pausable-work.ts'
import { withDefined } from '../core/with-defined.ts'
import { errorTextOf, type UnsuccessfulCall } from '../views/call-error-text.ts'
import { judgeCall, readErrorText } from './call-outcome.ts'
import { unnamed } from './old-call.ts'
import type { OldCall, OldPart, OldStep, OldTurn } from './old-message.ts'
import { createStepList } from './step-list.ts'
import { hasCall, squeeze, textOfStep } from './steps.ts'

/** A turn that others are merged with, with what has to be known of all of it: found once, however many they are. */
export interface KnownTurn {
  readonly turn: OldTurn
  readonly calls: readonly OldCall[]
  /** Its calls in order, by each id that they have. */
  readonly byId: ReadonlyMap<string, readonly OldCall[]>
  readonly byName: ReadonlyMap<string, readonly OldCall[]>
  /** Without white space. */
  readonly text: string
  readonly joined: readonly string[]
}

export function* indexTurn(turn: OldTurn): PausableWork<KnownTurn> {
  const calls = callsIn(turn)
  yield
  const byId = new Map<string, OldCall[]>()
  const byName = new Map<string, OldCall[]>()
  for (const call of calls) {
    yield
    addTo(byName, call.name, call)
    if (call.id !== undefined) addTo(byId, call.id, call)
    if (call.ownId !== undefined && call.ownId !== call.id) addTo(byId, call.ownId, call)
  }
  const text = squeeze(textOf(turn))
  yield
  return { turn, calls, byId, byName, text, joined: joinedIn(turn) }
}

function addTo<Key, Item>(lists: Map<Key, Item[]>, key: Key, item: Item): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [item])
  else list.push(item)
}

/**
 * Merges a stored turn with the same turn as it was read now. What has ended since is adopted: a call that
 * was open, an answer that had broken off, later steps. What is stored and has ended does not change.
 * `isPiece`: only some rows of the turn may have been read. `undefined`: nothing is new.
 */
export function* mergeTurn(
  known: KnownTurn,
  read: OldTurn,
  isPiece = false,
): PausableWork<OldTurn | undefined> {
  const { turn: stored } = known
  if (isPiece) {
    const union = yield* joinTurns(known, read)
    const signature = yield* signatureOf(union)
    return signature === (yield* signatureOf(stored)) ? undefined : named(union, stored)
  }
  const calls = callsIn(read)
  const pairs = yield* pairCalls(known, calls)
  const isCovered = pairs.byStored.size === known.calls.length
  const [before, now] = [known.text, squeeze(textOf(read))]
  yield
  if (isCovered && now.startsWith(before)) {
    const isMore =
      calls.length > known.calls.length ||
      now.length > before.length ||
      joinedIn(read).length > known.joined.length ||
      [...pairs.byStored].some(([old, found]) => isMoreOf(found, old)) ||
      (isBroken(stored) && !isBroken(read)) ||
      (read.isComplete === true &&
        stored.ending !== undefined &&
        stored.ending.kind !== 'completed')
    return isMore ? yield* mergeInto(stored, read, pairs.byRead) : undefined
  }
  const ended = new Map([...pairs.byStored].filter(([old, found]) => isMoreOf(found, old)))
  if (ended.size === 0) return undefined
  const steps = yield* mapCalls(stored, (call) => settle(call, ended.get(call)))
  return reopened({ ...stored, steps })
}

/**
 * Joins two pieces of one turn, as where a page ended between a call and its result. A call that is in both
 * is one call: with the name and the arguments of the one, and the end of the other. Steps are ordered by
 * their dates, and by their pieces where these are equal.
 */
export function* joinTurns(known: KnownTurn, second: OldTurn): PausableWork<OldTurn> {
  const { turn: first } = known
  const pairs = yield* pairCalls(known, callsIn(second))
  // A placeholder was created for a result without its call; the call now replaces it.
  const isMoved = (call: OldCall) => isStandIn(call) && pairs.byStored.has(call)
  const kept = yield* mapInSteps(first.steps, (step): readonly OldStep[] => {
    const parts = step.parts
      .filter((part) => part.type !== 'call' || !isMoved(part))
      .map((part) => (part.type === 'call' ? combine(part, pairs.byStored.get(part)) : part))
    return parts.length === 0 && step.parts.length > 0 ? [] : [{ ...step, parts }]
  })
  const list = createStepList(kept.flat())
  const joined = new Set(known.joined)
  for (const step of second.steps) {
    yield
    const rest = step.parts.flatMap((part): readonly OldPart[] => {
      if (part.type === 'steering') return joined.has(part.id) ? [] : [part]
      if (part.type !== 'call') return [part]
      const old = pairs.byRead.get(part)
      if (old === undefined) return [part]
      return isMoved(old) ? [combine(part, old)] : []
    })
    list.add({ ...step, parts: rest })
  }
  const steps = list.steps()
  const otherIds = [first, second].flatMap(({ id, otherIds: more = [] }) => [
    ...(id === undefined ? [] : [id]),
    ...more,
  ])
  // Renumbered, because each piece numbered its own steps from the beginning.
  const numbered = steps.map(({ index: _, ...step }, nth) =>
    // A text that broke off before the turn continued was an attempt, not the answer.
    step.flaw === 'broken' && !hasCall(step) && nth < steps.length - 1
      ? { ...step, flaw: 'draft' as const }
      : step,
  )
  const dates = [first.at, second.at].filter((date) => date !== undefined)
  const { ending: _ending, isComplete: _isComplete, ...head } = first
  return withDefined(
    { ...head, steps: numbered, otherIds: [...new Set(otherIds)] },
    {
      at: dates.length === 0 ? undefined : Math.min(...dates),
      metadata: first.metadata ?? second.metadata,
      choices: first.choices ?? second.choices,
      feedback: first.feedback ?? second.feedback,
      isComplete: second.isComplete ?? first.isComplete,
    },
  )
}

/** The turn under the id that it is stored with. */
const named = (turn: OldTurn, { id }: OldTurn): OldTurn => withDefined({ ...turn }, { id })

function* signatureOf(turn: OldTurn): PausableWork<string> {
  const calls = yield* mapInSteps(callsIn(turn), (call) => [
    ...[call.id, call.name, endOf(call), call.startedAt !== undefined],
  ])
  const texts = yield* mapInSteps(turn.steps, (step) => {
    const text = squeeze(textOfStep(step))
    return text === '' ? [] : [[text, step.flaw]]
  })
  return JSON.stringify([calls, texts.flat(), joinedIn(turn)])
}

/** How a call ended, without its result. */
function endOf({ outcome }: OldCall): object | string {
  if (typeof outcome === 'string') return outcome
  return outcome.state === 'succeeded' ? [outcome.state] : outcome
}

/** Whether it has no answer yet: the next piece may be the rest of it. */
export const isUnanswered = ({ steps }: OldTurn): boolean => {
  const last = steps.findLast((step) => step.flaw !== 'draft')
  return last === undefined || hasCall(last)
}

/** The end of a turn that continues is derived again from its new content. */
function reopened({ ending, ...turn }: OldTurn): OldTurn {
  return ending?.kind === 'failed' || ending?.kind === 'completed' ? { ...turn, ending } : turn
}

function* mergeInto(
  stored: OldTurn,
  read: OldTurn,
  storedOf: ReadonlyMap<OldCall, OldCall>,
): PausableWork<OldTurn> {
  const steps = yield* mapCalls(read, (call) => {
    const old = storedOf.get(call)
    return old === undefined ? call : combine(old, call)
  })
  return withDefined(
    { ...read, steps },
    {
      id: stored.id,
      at: stored.at ?? read.at,
      metadata: stored.metadata ?? read.metadata,
      choices: stored.choices ?? read.choices,
      feedback: stored.feedback ?? read.feedback,
    },
  )
}

/** Combines two copies of one call: the identity of the one that has it, and the later end. */
function combine(call: OldCall, other: OldCall | undefined): OldCall {
  if (other === undefined) return call
  const [head, more] = isStandIn(call) ? [other, call] : [call, other]
  const ownId = call.ownId ?? other.ownId
  const whole = withReason(head, more) ?? (isFurther(more, head) ? settle(head, more) : head)
  return withDefined({ ...whole }, { ownId })
}

/** A denied call has no result: what arrived as a result without its call is the feedback. */
function withReason(call: OldCall, standIn: OldCall): OldCall | undefined {
  const { outcome } = call
  if (!isStandIn(standIn) || typeof outcome === 'string' || typeof standIn.outcome === 'string') {
    return undefined
  }
  if (outcome.state !== 'denied' || outcome.feedback !== undefined) return undefined
  const value = toValue(standIn.outcome)
  // No person denied it, as far as is known: then the result shows that it ran.
  const wasNotRefused = outcome.cause === 'superseded' && !isRefusal(standIn.outcome)
  if (wasNotRefused) return undefined
  const at = standIn.startedAt ?? standIn.endedAt ?? 0
  const end = judgeCall(call.name, { value }, { validated: 'rejected' }, at, () => {})
  const { decision: _decision, needsApproval: _asked, ...base } = call
  return withDefined({ ...base, ...end }, { endedAt: standIn.endedAt })
}

function isRefusal(outcome: CallOutcome): boolean {
  const known = outcome.state === 'failed' ? readErrorText(outcome.error, 0) : undefined
  return known?.outcome.state === 'denied'
}

function toValue(outcome: CallOutcome): Json {
  if (outcome.state !== 'succeeded') return { error: errorTextOf(outcome as UnsuccessfulCall) }
  return outcome.output.kind === 'inline' ? outcome.output.value : null
}

/** The call with its new end; complete arguments replace incomplete ones. */
function settle(call: OldCall, end: OldCall | undefined): OldCall {
  if (end === undefined) return call
  const { outcome, decision, partial, startedAt, endedAt, wasSkipped } = end
  const { resultProviderMetadata: _kept, partial: _part, needsApproval: _asked, ...base } = call
  return withDefined(
    { ...base, outcome, input: call.input.kind === 'complete' ? call.input : end.input },
    {
      decision: decision ?? call.decision,
      resultProviderMetadata: end.resultProviderMetadata,
      ...{ partial, startedAt, endedAt, wasSkipped },
    },
  )
}

/** Created for a result without its call: only the result is known. */
const isStandIn = ({ name }: OldCall): boolean => name === unnamed

const isMoreOf = (found: OldCall, old: OldCall): boolean =>
  isFurther(found, old) || (isStandIn(old) && !isStandIn(found))

/** Two denials are equal, whatever their cause; of equal ends, the row with the result has the better date. */
const isFurther = (found: OldCall, old: OldCall): boolean =>
  (rankOf(found) > rankOf(old) && !(isDenied(found) && isDenied(old))) ||
  (rankOf(found) === rankOf(old) && rankOf(found) < 3 && isStandIn(found) && !isStandIn(old))

const isDenied = ({ outcome }: OldCall): boolean =>
  typeof outcome === 'object' && outcome.state === 'denied'

/** How far a call has come: open, left open by a crash, or ended. */
function rankOf({ outcome }: OldCall): number {
  if (typeof outcome === 'string') return 0
  switch (outcome.state) {
    case 'interrupted':
      // What an import makes of a call that was left open or waited; any other cause is more specific.
      return outcome.cause === 'crashed' || outcome.supersededBy === 'import' ? 1 : 2
    case 'stopped':
    case 'unknown':
      return 2
    case 'denied':
      return outcome.cause === 'superseded' ? 1 : 3
    default:
      return 3
  }
}

interface Pairs {
  readonly byStored: ReadonlyMap<OldCall, OldCall>
  readonly byRead: ReadonlyMap<OldCall, OldCall>
}

/** By id; a call that was read without an id matches the next one of its tool. */
function* pairCalls({ byId, byName }: KnownTurn, calls: readonly OldCall[]): PausableWork<Pairs> {
  const byStored = new Map<OldCall, OldCall>()
  const byRead = new Map<OldCall, OldCall>()
  /** How many calls of a list are paired, from its first one on: each is passed over once. */
  const passed = new Map<readonly OldCall[], number>()
  for (const call of calls) {
    yield
    const list = call.id === undefined ? byName.get(call.name) : byId.get(call.id)
    if (list === undefined) continue
    let place = passed.get(list) ?? 0
    while (place < list.length && byStored.has(list[place] as OldCall)) place++
    passed.set(list, place)
    const old = list[place]
    if (old === undefined) continue
    byStored.set(old, call)
    byRead.set(call, old)
  }
  return { byStored, byRead }
}

export const callsIn = ({ steps }: OldTurn): readonly OldCall[] =>
  steps.flatMap(({ parts }) => parts.filter((part) => part.type === 'call'))

/** The ids of the messages that joined the turn (IN3). */
const joinedIn = ({ steps }: OldTurn): readonly string[] =>
  steps.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'steering' ? [part.id] : [])))

const mapCalls = (
  turn: OldTurn,
  change: (call: OldCall) => OldCall,
): PausableWork<readonly OldStep[]> =>
  mapInSteps(turn.steps, (step) => ({
    ...step,
    parts: step.parts.map((part) => (part.type === 'call' ? change(part) : part)),
  }))

const textOf = ({ steps }: OldTurn): string =>
  steps.map((step) => (step.flaw === 'draft' ? '' : textOfStep(step))).join('')

const isBroken = ({ steps }: OldTurn): boolean => steps.some(({ flaw }) => flaw === 'broken')
