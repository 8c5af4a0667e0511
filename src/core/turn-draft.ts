import type { Call } from './call.ts'
import type { CallId, Seq } from './ids.ts'
import type { Part, Step, Turn } from './message.ts'

export interface CallPlace {
  readonly step: number
  readonly part: number
  readonly call: Call
}

type Head = Omit<Turn, 'steps' | 'lastSeq' | 'unreadable'>
type OwnedStep = { step: Step; parts: Part[] }

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
  const places = new Map<CallId, { step: number; part: number }>()
  // The calls of the steps from here on have their places; those before are looked at when needed.
  let placedFrom = steps.length

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
  const placeStep = (): boolean => {
    if (placedFrom === 0) return false
    placedFrom--
    for (const [part, value] of partsAt(placedFrom).entries()) {
      if (value.type === 'call') places.set(value.id, { step: placedFrom, part })
    }
    return true
  }

  const placeOf = (at: { step: number; part: number }): CallPlace => ({
    ...at,
    call: partsAt(at.step)[at.part] as Call,
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
      if (part.type === 'call') places.set(part.id, { step: index, part: parts.length - 1 })
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
      let at = places.get(id)
      while (at === undefined && placeStep()) at = places.get(id)
      return at === undefined ? undefined : placeOf(at)
    },
    allCalls() {
      while (placeStep());
      return [...places.values()].map(placeOf)
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
