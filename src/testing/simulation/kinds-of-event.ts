import type { NewEvent } from '../../core/event.ts'
import type { TurnEnding } from '../../core/message.ts'
import type { Kind } from './tally.ts'

/** What the storing of a fact shows to have happened. */
export function kindsOf(event: NewEvent): readonly Kind[] {
  switch (event.type) {
    case 'message-added':
      return ['message']
    case 'step-abandoned':
      return ['step-abandoned']
    case 'call-decided':
      return event.editedInput === undefined ? ['decision'] : ['decision', 'decision-edited']
    case 'call-resolved':
      return [`resolve-${event.resolution.kind}`]
    case 'call-settled': {
      const { outcome } = event
      if (outcome.state === 'unknown') return ['unknown-outcome']
      return outcome.state === 'failed' && outcome.cause === 'timeout' ? ['tool-timeout'] : []
    }
    case 'turn-ended':
      return endingKinds[event.ending.kind] ?? []
    default:
      return []
  }
}

const endingKinds: Partial<Readonly<Record<TurnEnding['kind'], readonly Kind[]>>> = {
  superseded: ['supersede'],
  failed: ['model-failed'],
  'cut-off': ['model-cut-off'],
  'step-limit': ['step-limit'],
}
