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

it('[OP7] looks through the data of a long turn once in a run of events, and replaces the last of a name and id', () => {
  let reads = 0
  const item = (nth: number) => ({ type: 'data', name: 'n', id: `${nth}`, data: nth }) as const
  const parts = new Proxy(
    Array.from({ length: 5_000 }, (_, nth) => item(nth)),
    {
      get(target, key, receiver) {
        if (typeof key === 'string' && /^\d+$/.test(key)) reads++
        return Reflect.get(target, key, receiver) as unknown
      },
    },
  )
  const steps: readonly Step[] = [{ ...open, index: 0, parts }]
  const draft = createTurnDraft({ ...emptyTurn(parseMessageId('turn'), 1, 1), steps })
  for (let nth = 5_000; nth < 6_000; nth++) {
    expect(draft.replaceData(item(nth))).toBe(false)
    draft.pushPart(item(nth))
  }
  for (const nth of [3, 5_500]) {
    expect(draft.replaceData({ ...item(nth), data: 'new' })).toBe(true)
  }
  expect(draft.replaceData({ type: 'data', name: 'n', data: 1 })).toBe(false)
  expect(draft.replaceData({ ...item(3), name: 'other' })).toBe(false)
  // Indexed once, and copied once.
  expect(reads).toBeLessThanOrEqual(2 * 5_000)
  const [step] = draft.finish().steps
  expect(step?.parts).toHaveLength(6_000)
  expect([3, 4, 5_500].map((nth) => step?.parts[nth])).toMatchObject([
    { data: 'new' },
    { data: 4 },
    { data: 'new' },
  ])
})
