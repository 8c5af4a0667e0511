import { withDefined } from '../core/with-defined.ts'
import type { MessagePart, OldPart, OldStep } from './old-message.ts'

/**
 * Where a message without marks has its steps. `loose`: what is said after a call begins the next
 * one. `exact`: as `projectVercelMessage` writes them, extras first, then one text, then the calls.
 */
export type StepRule = 'loose' | 'exact'

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
