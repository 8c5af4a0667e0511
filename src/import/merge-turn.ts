import { withDefined } from '../core/with-defined.ts'
import type { OldCall, OldPart, OldStep, OldTurn } from './old-message.ts'
import { hasCall, textOfStep } from './steps.ts'

/**
 * A stored turn and the same turn as it was read now. What has ended since is taken over: a call that
 * was left open, an answer that had broken off, steps that came after. What is stored and has ended
 * stays as it is. `undefined`: there is nothing new in it.
 */
export function mergeTurn(stored: OldTurn, read: OldTurn): OldTurn | undefined {
  const pairs = pairCalls(stored, read)
  const isCovered = callsIn(stored).every((call) => pairs.byStored.has(call))
  const [before, now] = [squeeze(textOf(stored)), squeeze(textOf(read))]
  if (isCovered && now.startsWith(before)) {
    const isMore =
      callsIn(read).length > callsIn(stored).length ||
      now.length > before.length ||
      [...pairs.byStored].some(([old, found]) => rankOf(found) > rankOf(old)) ||
      (isCut(stored) && !isCut(read) && now !== '')
    return isMore ? takeOver(stored, read, pairs.byRead) : undefined
  }
  if (pairs.byRead.size === 0 && !before.includes(now)) {
    const isLater = (read.at ?? 0) >= (stored.at ?? 0)
    return isLater ? joinTurns(stored, read) : named(joinTurns(read, stored), stored)
  }
  const ended = new Map([...pairs.byStored].filter(([old, found]) => rankOf(found) > rankOf(old)))
  if (ended.size === 0) return undefined
  return reopened({ ...stored, steps: mapCalls(stored, (call) => settle(call, ended.get(call))) })
}

/**
 * Two pieces of one turn, as where a page ended between a call and its result. A call that is open in
 * the first and has ended in the second is one call.
 */
export function joinTurns(first: OldTurn, second: OldTurn): OldTurn {
  const ends = new Map<OldCall, OldCall>()
  const taken = new Set<OldPart>()
  for (const call of callsIn(first)) {
    if (call.id === undefined || rankOf(call) > unfinished) continue
    const end = callsIn(second).find(
      (other) => other.id === call.id && !taken.has(other) && rankOf(other) > rankOf(call),
    )
    if (end === undefined) continue
    ends.set(call, end)
    taken.add(end)
  }
  const steps = mapCalls(first, (call) => settle(call, ends.get(call)))
  const rest = second.steps.flatMap((step): readonly OldStep[] => {
    const parts = step.parts.filter((part) => !taken.has(part))
    // Numbered anew: the second piece counted its own steps from the beginning.
    const { index: _, ...plain } = step
    return parts.length === 0 && step.parts.length > 0 ? [] : [{ ...plain, parts }]
  })
  const metadata = first.metadata ?? second.metadata
  const otherIds = [first, second].flatMap(({ id, otherIds: more = [] }) => [
    ...(id === undefined ? [] : [id]),
    ...more,
  ])
  return reopened(
    withDefined(
      { ...first, steps: [...steps, ...rest], otherIds },
      { metadata, ending: second.ending, isComplete: second.isComplete },
    ),
  )
}

const named = (turn: OldTurn, { id }: OldTurn): OldTurn => withDefined({ ...turn }, { id })

/** Has no answer yet: the piece that follows may be the rest of it. */
export const isUnanswered = ({ steps }: OldTurn): boolean => {
  const last = steps.findLast((step) => step.flaw !== 'draft')
  return last === undefined || hasCall(last)
}

/** How a turn ended that goes on is seen anew from what it has now. */
function reopened({ ending, ...turn }: OldTurn): OldTurn {
  return ending?.kind === 'failed' || ending?.kind === 'completed' ? { ...turn, ending } : turn
}

function takeOver(
  stored: OldTurn,
  read: OldTurn,
  storedOf: ReadonlyMap<OldCall, OldCall>,
): OldTurn {
  const steps = mapCalls(read, (call) => {
    const old = storedOf.get(call)
    if (old === undefined) return call
    return rankOf(call) > rankOf(old) ? settle(old, call) : old
  })
  return withDefined(
    { ...read, steps },
    { id: stored.id, at: stored.at, metadata: stored.metadata ?? read.metadata },
  )
}

/** The stored call with the end that it has now; arguments that are whole are better than those that are not. */
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

/** How far a call has come. Up to `unfinished` it was left, not ended. */
function rankOf({ outcome }: OldCall): number {
  if (typeof outcome === 'string') return 0
  const isLeft =
    ['interrupted', 'unknown', 'stopped'].includes(outcome.state) ||
    (outcome.state === 'denied' && outcome.cause === 'superseded')
  return isLeft ? unfinished : 2
}
const unfinished = 1

interface Pairs {
  readonly byStored: ReadonlyMap<OldCall, OldCall>
  readonly byRead: ReadonlyMap<OldCall, OldCall>
}

/** By id; a call that was read without one stands for the next of its tool. */
function pairCalls(stored: OldTurn, read: OldTurn): Pairs {
  const byStored = new Map<OldCall, OldCall>()
  const byRead = new Map<OldCall, OldCall>()
  for (const call of callsIn(read)) {
    const old = callsIn(stored).find(
      (other) =>
        !byStored.has(other) &&
        (call.id === undefined
          ? other.name === call.name
          : other.id === call.id || other.ownId === call.id),
    )
    if (old === undefined) continue
    byStored.set(old, call)
    byRead.set(call, old)
  }
  return { byStored, byRead }
}

export const callsIn = ({ steps }: OldTurn): readonly OldCall[] =>
  steps.flatMap(({ parts }) => parts.filter((part) => part.type === 'call'))

const mapCalls = (turn: OldTurn, change: (call: OldCall) => OldCall): readonly OldStep[] =>
  turn.steps.map((step) => ({
    ...step,
    parts: step.parts.map((part) => (part.type === 'call' ? change(part) : part)),
  }))

const textOf = ({ steps }: OldTurn): string =>
  steps.map((step) => (step.flaw === 'draft' ? '' : textOfStep(step))).join('')

const isCut = ({ steps, ending, isComplete }: OldTurn): boolean =>
  isComplete === false ||
  (ending !== undefined && ending.kind !== 'completed') ||
  steps.some(({ flaw }) => flaw === 'broken')

const squeeze = (text: string): string => text.replaceAll(/\s+/g, '')
