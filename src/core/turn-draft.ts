import type { Call } from './call.ts'
import type { CallId, Seq } from './ids.ts'
import { callPositionsIn, type Part, type Step, type Turn } from './message.ts'

interface LocatedCall {
  readonly step: number
  readonly part: number
  readonly call: Call
}

type Head = Omit<Turn, 'steps' | 'lastSeq' | 'unreadable'>
type OwnedStep = { step: Step; parts: Part[] }
type PartPosition = Omit<LocatedCall, 'call'>

/**
 * A turn while a run of events is folded into it. The array of steps, and the parts of a step, are copied on
 * their first change and never again in the same run.
 */
export interface TurnDraft {
  head: Head
  lastSeq: Seq
  unreadable: number
  stepCount(): number
  lastStep(): Step | undefined
  pushStep(step: Step): void
  replaceLastStep(step: Step): void
  pushPart(part: Part): void
  /** Changes the last part that `fits` accepts; returns false if there is none. */
  changePart<P extends Part>(fits: (part: Part) => part is P, change: (part: P) => P): boolean
  /** Puts the item in the place of the last one with its name and id; returns false if there is none, or it has no id. */
  replaceData(item: DataPart): boolean
  findCall(id: CallId): LocatedCall | undefined
  allCalls(): readonly LocatedCall[]
  replaceCall(located: LocatedCall, call: Call): void
  finish(): Turn
}

type DataPart = Extract<Part, { readonly type: 'data' }>

const fewSteps = 64

/** With the length of the name, because both may contain any character. */
const dataKey = ({ name, id = '' }: DataPart): string => `${name.length} ${name} ${id}`

function positionsIn(steps: readonly Step[]): ReadonlyMap<CallId, PartPosition> {
  const positions = new Map<CallId, PartPosition>()
  for (const [step, { parts }] of steps.entries()) {
    for (const [index, part] of parts.entries()) {
      if (part.type === 'call') positions.set(part.id, { step, part: index })
    }
  }
  return positions
}

export function createTurnDraft(turn: Turn): TurnDraft {
  const { steps: before, lastSeq, unreadable, ...head } = turn
  const steps = [...before]
  const owned = new Map<number, OwnedStep>()
  // Positions of the calls that were added in this run; the others are still where they were before it.
  const added = new Map<CallId, PartPosition>()

  // Built when it is first needed: to search thousands of parts for each event of a run is quadratic (OP7).
  let data: Map<string, PartPosition> | undefined
  const dataPositions = (): Map<string, PartPosition> => {
    if (data !== undefined) return data
    data = new Map()
    for (let step = 0; step < steps.length; step++) {
      for (const [part, one] of partsAt(step).entries()) {
        if (one.type === 'data' && one.id !== undefined) data.set(dataKey(one), { step, part })
      }
    }
    return data
  }

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

  // From the last step backwards: most events concern a call of one of the last steps.
  const positionBefore = (id: CallId): PartPosition | undefined => {
    const from = Math.max(0, before.length - fewSteps)
    for (let step = before.length - 1; step >= from; step--) {
      const part = callPositionsIn(before[step] as Step).get(id)
      if (part !== undefined) return { step, part }
    }
    return from === 0 ? undefined : (earlier ??= positionsIn(before)).get(id)
  }
  // Of all steps, once in a run: to search thousands of steps for each event of a run is quadratic (OP7).
  let earlier: ReadonlyMap<CallId, PartPosition> | undefined

  const locate = ({ step, part }: PartPosition): LocatedCall => ({
    step,
    part,
    call: partsAt(step)[part] as Call,
  })

  return {
    head,
    lastSeq,
    unreadable,
    stepCount: () => steps.length,
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
      const position = { step: index, part: parts.length - 1 }
      if (part.type === 'call') added.set(part.id, position)
      if (part.type === 'data' && part.id !== undefined) data?.set(dataKey(part), position)
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
    replaceData(item) {
      const at = item.id === undefined ? undefined : dataPositions().get(dataKey(item))
      if (at !== undefined) own(at.step).parts[at.part] = item
      return at !== undefined
    },
    findCall(id) {
      const at = added.get(id) ?? positionBefore(id)
      return at === undefined ? undefined : locate(at)
    },
    allCalls() {
      return steps.flatMap((_, step) =>
        partsAt(step).flatMap((call, part) => (call.type === 'call' ? [{ step, part, call }] : [])),
      )
    },
    replaceCall(located, call) {
      own(located.step).parts[located.part] = call
    },
    finish() {
      for (const [index, { step, parts }] of owned) steps[index] = { ...step, parts }
      return { ...this.head, lastSeq: this.lastSeq, steps, unreadable: this.unreadable }
    },
  }
}
