import type { NewEvent } from '../../core/event.ts'
import type { ScriptPart } from '../scripted-model.ts'
import type { FinishReason } from '../../core/usage.ts'
import type { Witness } from './witness.ts'

/** What the models of all processes said, held against what is stored of it. */
export interface Speech {
  said(process: string, script: readonly ScriptPart[]): void
  /** A fact was stored: a step that ended by itself has all of what was said, once, in order. */
  stored(process: string, event: NewEvent, witness: Witness): void
}

const whole: ReadonlySet<FinishReason> = new Set(['stop', 'tool-calls', 'length', 'content-filter'])

export function createSpeech(report: (rule: string, message: string) => void): Speech {
  const scripts = new Map<string, Set<string>>()
  return {
    said(process, script) {
      const text = script.flatMap((part) => ('text' in part ? [part.text] : [])).join('')
      scripts.set(process, (scripts.get(process) ?? new Set()).add(text))
    },
    stored(process, event, witness) {
      if (event.type !== 'step-ended' || !whole.has(event.finishReason)) return
      const parts = witness.turns.get(event.turnId)?.steps.at(-1)?.parts ?? []
      const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
      if (scripts.get(process)?.has(text) !== true) {
        report('ST1', `a step was stored as "${text}", which no model said`)
      }
    },
  }
}
