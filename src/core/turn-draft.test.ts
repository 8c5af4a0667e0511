import { expect, it } from 'vitest'
import { emptyTurn } from './fold-turn.ts'
import { parseCallId, parseMessageId } from './ids.ts'
import type { Step, Turn } from './message.ts'
import { createTurnDraft } from './turn-draft.ts'

const open = { status: 'open', startedAt: 1, parts: [] } as const

it('[OP7] looks through the steps of a long turn once in a run of events, not once for each call', () => {
  let reads = 0
  const steps = new Proxy(
    Array.from({ length: 5_000 }, (_, index): Step => ({ ...open, index })),
    {
      get(target, key, receiver) {
        if (typeof key === 'string' && /^\d+$/.test(key)) reads++
        return Reflect.get(target, key, receiver) as unknown
      },
    },
  )
  const turn: Turn = { ...emptyTurn(parseMessageId('turn'), 1, 1), steps }
  const draft = createTurnDraft(turn)
  for (let nth = 0; nth < 1_000; nth++) {
    expect(draft.findCall(parseCallId(`call-${nth}`))).toBeUndefined()
  }
  // Copied once, indexed once, and the last 64 looked at each time.
  expect(reads).toBeLessThanOrEqual(2 * 5_000 + 64 * 1_000)
})
