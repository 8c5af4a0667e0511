import type { PausableWork } from '../core/pausable-work.ts'
import { withDefined } from '../core/with-defined.ts'
import { containsText } from './contains-text.ts'
import {
  hasEnded,
  type MessagePart,
  type OldCall,
  type OldPart,
  type OldSteering,
  type OldStep,
} from './old-message.ts'

/**
 * How a message without marks is split into steps. `loose`: text after a call begins the next step. `exact`:
 * as `projectVercelMessage` writes them, extras first, then one text, then the calls.
 */
type StepRule = 'loose' | 'exact'

export function toSteps(parts: readonly MessagePart[], rule: StepRule): readonly OldStep[] {
  const isMarked = rule === 'loose' && parts.some((part) => part.type === 'step-start')
  const steps: OldPart[][] = []
  let current = openStep()
  const close = () => {
    if (current.parts.length > 0) steps.push(current.parts)
    current = openStep()
  }
  for (const part of parts) {
    if (part.type === 'step-start') {
      close()
      continue
    }
    if (!isMarked && 'text' in part && part.text === '') continue
    if (!isMarked && beginsStep(part, current, rule)) close()
    addPart(current, part)
  }
  close()
  return steps.map(toStep)
}

/**
 * The step that parts are added to, with what `beginsStep` has to know of them: searched for in the parts at every
 * part, a turn of thousands of calls would take seconds (OP7).
 */
interface OpenStep {
  readonly parts: OldPart[]
  hasCall: boolean
  hasText: boolean
  /** The step that its last numbered part was in. */
  index: number | undefined
}

const openStep = (): OpenStep => ({ parts: [], hasCall: false, hasText: false, index: undefined })

function addPart(step: OpenStep, part: OldPart): void {
  step.parts.push(part)
  if (part.type === 'call') step.hasCall = true
  if (part.type === 'text') step.hasText = true
  if (isNumbered(part)) step.index = part.step
}

function beginsStep(part: OldPart, step: OpenStep, rule: StepRule): boolean {
  const { hasCall: isCalling, hasText, index } = step
  // A message that joined the turn stands behind the step that it followed (IN3).
  if (part.type === 'call' || part.type === 'steering') {
    return index !== undefined && part.step !== undefined && index !== part.step
  }
  if (rule === 'exact') return isCalling || hasText
  return isCalling && (part.type === 'text' || part.type === 'reasoning')
}

function toStep(parts: readonly OldPart[]): OldStep {
  const index = parts.find(isNumbered)?.step
  return withDefined({ parts }, { index })
}

/** A part that says in which step it was. */
const isNumbered = (part: OldPart): part is (OldCall | OldSteering) & { readonly step: number } =>
  (part.type === 'call' || part.type === 'steering') && part.step !== undefined

export const hasCall = (step: OldStep): boolean => step.parts.some((part) => part.type === 'call')

export const textOfStep = (step: Pick<OldStep, 'parts'>): string =>
  step.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')

/**
 * Merges calls from a list beside the parts into the parts. A call that the parts have already stays, and
 * gets its end from the list; the others are inserted in the order of the list (LE2).
 */
export function addListedCalls(
  steps: readonly OldStep[],
  listed: readonly OldCall[],
): readonly OldStep[] {
  if (listed.length === 0) return steps
  if (!steps.some(hasCall)) return [...toSteps(listed, 'loose'), ...steps]
  const slots = steps.map((step) => step.parts.map(toSlot))
  const find = indexCalls(slots.flat())
  // A call that is not among the parts stands behind the one before it in the list; the first, before all calls.
  const first: OldCall[] = []
  let behind = first
  for (const call of listed) {
    const slot = find(call)
    if (slot === undefined) {
      behind.push(call)
      continue
    }
    slot.isPlaced = true
    if (!hasEnded(slot.part)) slot.part = toEnded(slot.part, call)
    behind = slot.behind
  }
  return steps.map((step, index) => ({
    ...step,
    parts: (slots[index] ?? []).flatMap((slot) => {
      const before = slot.part.type === 'call' ? first.splice(0) : []
      return [...before, slot.part, ...slot.behind]
    }),
  }))
}

/** A part of a message, and the calls from a list that are inserted behind it. */
interface PartSlot<Part extends OldPart = OldPart> {
  part: Part
  readonly behind: OldCall[]
  isPlaced: boolean
}

const toSlot = (part: OldPart): PartSlot => ({ part, behind: [], isPlaced: false })

/**
 * Finds the first call among the parts that a listed one is and that no other was: by id where both have one;
 * otherwise each of the parts matches one of its tool in the list. By index: compared one by one, the calls of a long
 * turn would take seconds (OP7).
 */
function indexCalls(slots: readonly PartSlot[]) {
  const calls = slots.filter((slot): slot is PartSlot<OldCall> => slot.part.type === 'call')
  const order = new Map(calls.map((slot, nth) => [slot, nth]))
  const byId = Map.groupBy(calls, ({ part }) => part.id)
  const byName = Map.groupBy(calls, ({ part }) => part.name)
  const nameless = Map.groupBy(byId.get(undefined) ?? [], ({ part }) => part.name)
  // Taken from the front, so that each is passed over once.
  for (const list of [byId, byName, nameless]) for (const found of list.values()) found.reverse()
  const next = (found: PartSlot<OldCall>[] = []): PartSlot<OldCall> | undefined => {
    while (found.at(-1)?.isPlaced === true) found.pop()
    return found.at(-1)
  }
  return ({ id, name }: OldCall): PartSlot<OldCall> | undefined => {
    if (id === undefined) return next(byName.get(name))
    const same = next(byId.get(id))
    const unnamed = next(nameless.get(name))
    if (same === undefined || unnamed === undefined) return same ?? unnamed
    return (order.get(same) ?? 0) < (order.get(unnamed) ?? 0) ? same : unnamed
  }
}

/** Complete arguments are preferred, whichever of the two has them. */
function toEnded(stored: OldCall, { outcome, decision, input, ...listed }: OldCall): OldCall {
  const args = stored.input.kind === 'complete' ? stored.input : input
  const id = stored.id ?? listed.id
  return withDefined({ ...stored, input: args, outcome }, { id, decision })
}

/** Text is the fallback: content that is in no part is the answer (LE2). */
export function* addMissingContent(
  steps: readonly OldStep[],
  content: string,
): PausableWork<readonly OldStep[]> {
  const text = squeeze(content)
  if (text === '' || steps.some(isAnswer)) return steps
  const commentary = squeeze(steps.filter(hasCall).map(textOfStep).join(''))
  return (yield* containsText(commentary, text))
    ? steps
    : [...steps, { parts: [{ type: 'text', text: content }] }]
}

const isAnswer = (step: OldStep): boolean =>
  step.flaw !== 'draft' && !hasCall(step) && squeeze(textOfStep(step)) !== ''

/** Without white space, which differs between what was streamed and what was stored. */
export const squeeze = (text: string): string => text.replaceAll(/\s+/g, '')
