import type { Call } from './call.ts'
import type { CallId, Seq } from './ids.ts'
import type { Part, Step, Turn } from './message.ts'

interface CallPlace {
  readonly step: number
  readonly part: number
  readonly call: Call
}

type Head = Omit<Turn, 'steps' | 'lastSeq' | 'unreadable'>
type OwnedStep = { step: Step; parts: Part[] }
type Place = Omit<CallPlace, 'call'>

/**
 * A turn while a run of events is folded into it. The array of steps, and the parts of a step, are
 * copied the first time they are touched and never again in the same run.
 */
export interface TurnDraft {
  head: Head
  lastSeq: Seq
  unreadable: number
  lastStep(): Step | undefined
  pushStep(step: Step): void
  replaceLastStep(step: Step): void
  pushPart(part: Part): void
  /** Changes the last part that fits; false if none does. */
  changePart<P extends Part>(fits: (part: Part) => part is P, change: (part: P) => P): boolean
  findCall(id: CallId): CallPlace | undefined
  allCalls(): readonly CallPlace[]
  replaceCall(place: CallPlace, call: Call): void
  finish(): Turn
}

export function createTurnDraft(turn: Turn): TurnDraft {
  const { steps: before, lastSeq, unreadable, ...head } = turn
  const steps = [...before]
  const owned = new Map<number, OwnedStep>()
  // Of calls that were added in this run; the others are where they were before it.
  const added = new Map<CallId, Place>()

  const own = (index: number): OwnedStep => {
    let mine = owned.get(index)
    if (mine === undefined) {
      const step = steps[index] as Step
      mine = { step, parts: [...step.parts] }
      owned.set(index, mine)
    }
    return mine
  }

  const partsAt = (index: number): readonly Part[] =>
    owned.get(index)?.parts ?? (steps[index] as Step).parts

  // From the last step backwards: what is said of a call is most often said of one of the last.
  const placeBefore = (id: CallId): Place | undefined => {
    for (let step = before.length - 1; step >= 0; step--) {
      const part = callsIn(before[step] as Step).get(id)
      if (part !== undefined) return { step, part }
    }
    return undefined
  }

  const placeOf = ({ step, part }: Place): CallPlace => ({
    step,
    part,
    call: partsAt(step)[part] as Call,
  })

  return {
    head,
    lastSeq,
    unreadable,
    lastStep() {
      const index = steps.length - 1
      if (index < 0) return undefined
      const mine = owned.get(index)
      return mine === undefined ? steps[index] : { ...mine.step, parts: mine.parts }
    },
    pushStep(step) {
      steps.push(step)
    },
    replaceLastStep(step) {
      const index = steps.length - 1
      steps[index] = step
      owned.set(index, { step, parts: [...step.parts] })
    },
    pushPart(part) {
      const index = steps.length - 1
      const { parts } = own(index)
      parts.push(part)
      if (part.type === 'call') added.set(part.id, { step: index, part: parts.length - 1 })
    },
    changePart(fits, change) {
      for (let step = steps.length - 1; step >= 0; step--) {
        const parts = partsAt(step)
        for (let index = parts.length - 1; index >= 0; index--) {
          const part = parts[index] as Part
          if (!fits(part)) continue
          own(step).parts[index] = change(part)
          return true
        }
      }
      return false
    },
    findCall(id) {
      const at = added.get(id) ?? placeBefore(id)
      return at === undefined ? undefined : placeOf(at)
    },
    allCalls() {
      return steps.flatMap((_, step) =>
        partsAt(step).flatMap((call, part) => (call.type === 'call' ? [{ step, part, call }] : [])),
      )
    },
    replaceCall(place, call) {
      own(place.step).parts[place.part] = call
    },
    finish() {
      for (const [index, { step, parts }] of owned) steps[index] = { ...step, parts }
      return { ...this.head, lastSeq: this.lastSeq, steps, unreadable: this.unreadable }
    },
  }
}

const knownCalls = new WeakMap<Step, ReadonlyMap<CallId, number>>()

/** Where the calls of a step are. Most steps are the same from one run of events to the next. */
function callsIn(step: Step): ReadonlyMap<CallId, number> {
  const known = knownCalls.get(step)
  if (known !== undefined) return known
  const found = new Map<CallId, number>()
  for (const [index, part] of step.parts.entries()) {
    if (part.type === 'call') found.set(part.id, index)
  }
  knownCalls.set(step, found)
  return found
}
