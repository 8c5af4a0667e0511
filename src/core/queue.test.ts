import { describe, expect, test } from 'vitest'
import { createRandom } from '../testing/random.ts'
import { type Change, foldThread } from './fold-thread.ts'
import type { NewEvent } from './event.ts'
import { type MessageId, parseMessageId } from './ids.ts'
import { firstReady, foldQueueEvents, parseQueue, toQueueText } from './queue.ts'
import type { InputMode, InputQueue } from './queued-input.ts'

const at = 1_760_000_000_000
const id = (number: number): MessageId => parseMessageId(`input-${number}`)
const parts = (text: string) => [{ type: 'text', text }] as const
const queued = (number: number, mode: InputMode = 'queue'): NewEvent => ({
  type: 'input-queued',
  input: { id: id(number), mode, parts: parts(`text ${number}`) },
  at,
})
const fold = (events: readonly NewEvent[], queue: InputQueue = []) => foldQueueEvents(queue, events)
const names = (queue: InputQueue) => queue.map((input) => (input.held ? `${input.id}!` : input.id))

describe('the queue of a thread', () => {
  test('[IN2] inputs stand in the order in which they came, interrupts before all else', () => {
    const queue = fold([
      queued(1),
      queued(2, 'steer'),
      queued(3, 'interrupt'),
      queued(4, 'interrupt'),
    ])
    expect(names(queue)).toEqual([id(3), id(4), id(1), id(2)])
  })

  test('[IN2] an input is moved before another, to the end, or stays where it is', () => {
    const queue = fold([queued(1), queued(2), queued(3)])
    const moved = (before: MessageId | null | undefined) =>
      names(
        fold(
          [
            {
              type: 'input-revised',
              messageId: id(2),
              at,
              ...(before === undefined ? { parts: parts('new') } : { before }),
            },
          ],
          queue,
        ),
      )
    expect(moved(id(1))).toEqual([id(2), id(1), id(3)])
    expect(moved(null)).toEqual([id(1), id(3), id(2)])
    expect(moved(undefined)).toEqual([id(1), id(2), id(3)])
    expect(moved(id(2))).toEqual([id(1), id(2), id(3)])
    expect(moved(id(9))).toEqual([id(1), id(3), id(2)])
  })

  test('[IN5] what is held waits for a release, and interrupts nothing any more', () => {
    const held = fold([queued(1), queued(2, 'interrupt'), { type: 'queue-held', at }])
    expect(names(held)).toEqual([`${id(2)}!`, `${id(1)}!`])
    expect(held.map(({ mode }) => mode)).toEqual(['queue', 'queue'])
    expect(names(fold([{ type: 'queue-released', at }], held))).toEqual([id(2), id(1)])
  })

  test('[LG7] what cannot be read of a column counts as none', () => {
    for (const text of [
      '',
      '{',
      'null',
      '[1, {}, {"id": "a"}]',
      '[{"id":"a","mode":"x","parts":[]}]',
    ]) {
      expect(parseQueue(text)).toEqual([])
    }
  })

  test('[IN2] is the same list where nothing changed', () => {
    const queue = fold([queued(1)])
    const nothing: readonly NewEvent[] = [
      { type: 'input-withdrawn', messageId: id(7), at },
      { type: 'queue-released', at },
      { type: 'message-added', messageId: id(7), role: 'user', parts: [], at },
    ]
    expect(fold(nothing, queue)).toBe(queue)
  })

  test.each(Array.from({ length: 50 }, (_, seed) => seed))(
    '[IN2] after any events each input that came waits, left once, or was never there (seed %i)',
    (seed) => {
      const random = createRandom(seed)
      const pick = (below: number) => random.int(below)
      const accepted = new Set<MessageId>()
      const gone = new Set<MessageId>()
      let queue: InputQueue = []
      let view = foldThread({ seq: 0, messages: [] }, [])
      for (let seq = 1; seq <= 60; seq++) {
        const target = queue[pick(queue.length + 1)]?.id ?? id(900 + pick(3))
        const modes = ['queue', 'steer', 'interrupt'] as const
        const event: NewEvent = [
          queued(seq, modes[pick(3)]),
          queued(seq, modes[pick(3)]),
          { type: 'input-withdrawn', messageId: target, at } as const,
          { type: 'message-added', messageId: target, role: 'user', parts: [], at } as const,
          {
            type: 'input-revised',
            messageId: target,
            before: queue[pick(queue.length)]?.id ?? null,
            at,
          } as const,
          { type: 'input-revised', messageId: target, parts: parts(`edited ${seq}`), at } as const,
          { type: 'queue-held', at } as const,
          { type: 'queue-released', at } as const,
        ][pick(8)] as NewEvent
        const before = queue
        queue = fold([event], queue)
        if (event.type === 'input-queued') accepted.add(event.input.id)
        const left = before.filter(({ id: was }) => !queue.some((input) => input.id === was))
        const leaves = event.type === 'input-withdrawn' || event.type === 'message-added'
        expect(left.map((input) => input.id)).toEqual(leaves && left.length > 0 ? [target] : [])
        for (const input of left) gone.add(input.id)
        // No other input moves: without the one that the event is about, the order is as before.
        const subject =
          'messageId' in event
            ? event.messageId
            : event.type === 'input-queued'
              ? event.input.id
              : null
        const others = (list: InputQueue) =>
          list.map((input) => input.id).filter((name) => name !== subject)
        expect(others(queue)).toEqual(others(before))
        const change: Change = { kind: 'event', seq, event: { ...event, seq } }
        view = foldThread(view, [change])
        expect(view.queue ?? []).toEqual(queue)
        expect(parseQueue(toQueueText(queue))).toEqual(queue)
        expect(firstReady(queue)?.held ?? false).toBe(false)
      }
      const waiting = new Set(queue.map((input) => input.id))
      for (const input of accepted) expect(waiting.has(input) !== gone.has(input)).toBe(true)
    },
  )
})
