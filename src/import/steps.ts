import { withDefined } from '../core/with-defined.ts'
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
  let current: OldPart[] = []
  const close = () => {
    if (current.length > 0) steps.push(current)
    current = []
  }
  for (const part of parts) {
    if (part.type === 'step-start') {
      close()
      continue
    }
    if (!isMarked && 'text' in part && part.text === '') continue
    if (!isMarked && beginsStep(part, current, rule)) close()
    current.push(part)
  }
  close()
  return steps.map(toStep)
}

function beginsStep(part: OldPart, step: readonly OldPart[], rule: StepRule): boolean {
  const lastCall = step.findLast((other) => other.type === 'call')
  // A message that joined the turn stands behind the step that it followed (IN3).
  if (part.type === 'call' || part.type === 'steering') {
    const index = step.findLast(isNumbered)?.step
    return index !== undefined && part.step !== undefined && index !== part.step
  }
  if (rule === 'exact') return step.some((other) => other.type === 'call' || other.type === 'text')
  return lastCall !== undefined && (part.type === 'text' || part.type === 'reasoning')
}

function toStep(parts: readonly OldPart[]): OldStep {
  const index = parts.find(isNumbered)?.step
  return withDefined({ parts }, { index })
}

/** A part that says in which step it was. */
const isNumbered = (part: OldPart): part is (OldCall | OldSteering) & { readonly step: number } =>
  (part.type === 'call' || part.type === 'steering') && part.step !== undefined

export const hasCall = (step: OldStep): boolean => step.parts.some((part) => part.type === 'call')

export const textOfStep = (step: OldStep): string =>
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
  const next = steps.map((step) => ({ ...step, parts: [...step.parts] }))
  const placed = new Set<OldPart>()
  let last: OldCall | undefined
  for (const call of listed) {
    const isStored = (part: OldPart): part is OldCall =>
      part.type === 'call' && !placed.has(part) && isSameCall(part, call)
    const home = next.find(({ parts }) => parts.some(isStored))
    if (home !== undefined) {
      const at = home.parts.findIndex(isStored)
      const stored = home.parts[at] as OldCall
      last = hasEnded(stored) ? stored : toEnded(stored, call)
      home.parts[at] = last
    } else {
      const isBefore = (part: OldPart) =>
        last === undefined ? part.type === 'call' : part === last
      const step = next.find(({ parts }) => parts.some(isBefore))
      step?.parts.splice(step.parts.findIndex(isBefore) + (last === undefined ? 0 : 1), 0, call)
      last = call
    }
    placed.add(last)
  }
  return next
}

/** By id where both have one; otherwise each stored call matches one of its tool in the list. */
function isSameCall(stored: OldCall, listed: OldCall): boolean {
  if (stored.id !== undefined && listed.id !== undefined) return stored.id === listed.id
  return stored.name === listed.name
}

/** Complete arguments are preferred, whichever of the two has them. */
function toEnded(stored: OldCall, { outcome, decision, input, ...listed }: OldCall): OldCall {
  const args = stored.input.kind === 'complete' ? stored.input : input
  const id = stored.id ?? listed.id
  return withDefined({ ...stored, input: args, outcome }, { id, decision })
}

/** Text is the fallback: content that is in no part is the answer (LE2). */
export function addMissingContent(steps: readonly OldStep[], content: string): readonly OldStep[] {
  const text = squeeze(content)
  if (text === '' || steps.some(isAnswer)) return steps
  const commentary = squeeze(steps.filter(hasCall).map(textOfStep).join(''))
  return commentary.includes(text)
    ? steps
    : [...steps, { parts: [{ type: 'text', text: content }] }]
}

const isAnswer = (step: OldStep): boolean =>
  step.flaw !== 'draft' && !hasCall(step) && squeeze(textOfStep(step)) !== ''

const squeeze = (text: string): string => text.replaceAll(/\s+/g, '')
