import { withDefined } from '../core/with-defined.ts'
import {
  hasEnded,
  type MessagePart,
  type OldCall,
  type OldPart,
  type OldStep,
} from './old-message.ts'

/**
 * Where a message without marks has its steps. `loose`: what is said after a call begins the next
 * one. `exact`: as `projectVercelMessage` writes them, extras first, then one text, then the calls.
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
  if (part.type === 'call') {
    return lastCall?.step !== undefined && part.step !== undefined && lastCall.step !== part.step
  }
  if (rule === 'exact') return step.some((other) => other.type === 'call' || other.type === 'text')
  return lastCall !== undefined && (part.type === 'text' || part.type === 'reasoning')
}

function toStep(parts: readonly OldPart[]): OldStep {
  const index = parts.find((part) => part.type === 'call')?.step
  return withDefined({ parts }, { index })
}

export const hasCall = (step: OldStep): boolean => step.parts.some((part) => part.type === 'call')

export const textOfStep = (step: OldStep): string =>
  step.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')

/**
 * Brings calls from a list beside the parts into them. What the parts have already stays, and gets
 * from the list the end that it lacks; the rest is put between them in the order of the list (LE2).
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

/** By id where both have one; without, each stored call stands for one of its tool in the list. */
function isSameCall(stored: OldCall, listed: OldCall): boolean {
  if (stored.id !== undefined && listed.id !== undefined) return stored.id === listed.id
  return stored.name === listed.name
}

/** Arguments that are whole are better than those that are not, whoever has them. */
function toEnded(stored: OldCall, { outcome, decision, input, ...listed }: OldCall): OldCall {
  const args = stored.input.kind === 'complete' ? stored.input : input
  const id = stored.id ?? listed.id
  return withDefined({ ...stored, input: args, outcome }, { id, decision })
}

/** Text is the fallback: content that stands in no part is the answer (LE2). */
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
