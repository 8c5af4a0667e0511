import type { OldCall, OldStep } from './old-message.ts'
import { hasCall, textOfStep, toStep } from './to-steps.ts'

/** Calls that the parts lack stand before the answer, in a step of their own. */
export function insertCalls(
  steps: readonly OldStep[],
  calls: readonly OldCall[],
): readonly OldStep[] {
  if (calls.length === 0) return steps
  return steps.toSpliced(steps.findLastIndex(hasCall) + 1, 0, toStep(calls))
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
