import { describe, expect, it } from 'vitest'
import type { Step, Turn } from '../core/message.ts'
import { begin, over, text } from '../../test/support/call-events.ts'
import { turnOf } from '../../test/support/turn-of.ts'
import { projectChatMessage } from './chat-message.ts'
import { projectEntityRows } from './entity-rows.ts'
import { projectPrompt } from './model-prompt.ts'
import { projectUiMessage } from './ui-message.ts'
import { projectVercelMessage } from './vercel-message.ts'

/** A step that an older version has let in: more parts than a function may have arguments. */
function withParts(part: Step['parts'][number]): Turn {
  const turn = turnOf(begin, ...text, over)
  const [step] = turn.steps
  if (step === undefined) throw new Error('no step')
  return { ...turn, steps: [{ ...step, parts: Array.from({ length: 150_000 }, () => part) }] }
}

describe('a step of very many parts', () => {
  it.each<[string, Step['parts'][number]]>([
    ['texts', { type: 'text', block: '1', text: 'x', state: 'done' }],
    ['reasoning', { type: 'reasoning', block: '1', text: 'x', state: 'done' }],
    ['data', { type: 'data', name: 'x', data: 1 }],
  ])('[LG7] can be read in every format: %s', (_, part) => {
    const turn = withParts(part)
    expect(projectUiMessage(turn)?.parts.length).toBe(150_001)
    for (const shown of [
      projectVercelMessage(turn),
      projectChatMessage(turn),
      projectEntityRows(turn),
      projectPrompt([turn]),
    ]) {
      expect(shown).toBeDefined()
    }
  })
})
