import { isTurnEvent, type NewEvent } from '../../core/event.ts'
import type { Step } from '../../core/message.ts'
import type { FinishReason } from '../../core/usage.ts'
import type { ScriptPart } from '../scripted-model.ts'
import type { Witness } from './witness.ts'
import type { Report } from './violation.ts'

/** What the models of all processes said, held against what is stored of it. */
export interface Speech {
  said(process: string, script: readonly ScriptPart[]): void
  /** Facts were stored: a step has the beginning of what was said, and all of it if it ended by itself. */
  stored(process: string, events: readonly NewEvent[], witness: Witness): void
}

const whole: ReadonlySet<FinishReason> = new Set(['stop', 'tool-calls', 'length', 'content-filter'])

export function createSpeech(report: Report): Speech {
  const scripts = new Map<string, Set<string>>()
  return {
    said(process, script) {
      const text = script.flatMap((part) => ('text' in part ? [part.text] : [])).join('')
      scripts.set(process, (scripts.get(process) ?? new Set()).add(text))
    },
    stored(process, events, witness) {
      const known = [...(scripts.get(process) ?? [])]
      for (const event of events) {
        if (!isTurnEvent(event)) continue
        const steps = witness.turns.get(event.turnId)?.steps ?? []
        const text = textOf(steps.at(-1))
        if (event.type === 'text-appended' && !known.some((script) => script.startsWith(text))) {
          report('LG3', `"${text}" was stored, and something before or in it was not`)
        }
        if (event.type === 'step-ended' && whole.has(event.finishReason)) {
          const ended = steps.findLast(({ status }) => status === 'ended')
          if (known.includes(textOf(ended))) continue
          report('LG3', `a step was stored as "${textOf(ended)}", which no model said`)
        }
      }
    },
  }
}

function textOf(step: Step | undefined): string {
  const parts = step?.parts ?? []
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
}
