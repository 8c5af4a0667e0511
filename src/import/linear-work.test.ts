import { describe, expect, it } from 'vitest'
import type { Json } from '../core/json.ts'
import { type PausableWork, runToEnd } from '../core/pausable-work.ts'
import { stripCommentary } from './commentary.ts'
import { createIdKeeper, type NamedMessage } from './import-units.ts'
import { mergeThread } from './merge-thread.ts'
import { indexTurn, mergeTurn } from './merge-turn.ts'
import {
  createReport,
  type OldCall,
  type OldPart,
  type OldStep,
  type OldTurn,
} from './old-message.ts'
import { readLegacyMessages, readOldMessages } from './read-legacy-messages.ts'
import { mergeRepeatedCalls } from './steps.ts'

const count = 6_000
/** A reader looks at some fields under dozens of names; the square of the count is ten times as much. */
const few = 600 * count
const list = <Item>(toItem: (nth: number) => Item, length = count): readonly Item[] =>
  Array.from({ length }, (_, nth) => toItem(nth))

const searches = [
  ...(['find', 'findIndex', 'findLast', 'findLastIndex'] as const),
  ...(['some', 'every', 'filter'] as const),
]

/** How many items the searches through lists look at while this runs. */
function countLooks(run: () => void): number {
  let looks = 0
  const originals = searches.map((name) => [name, Array.prototype[name]] as const)
  const includes = Array.prototype.includes
  try {
    for (const [name, original] of originals) {
      const counting = function (this: unknown[], fits: (...args: unknown[]) => unknown) {
        return Reflect.apply(original, this, [
          (...args: unknown[]) => {
            looks++
            return fits(...args)
          },
        ]) as unknown
      }
      Object.defineProperty(Array.prototype, name, { value: counting, configurable: true })
    }
    const counting = function (this: unknown[], item: unknown) {
      looks += this.length
      return Reflect.apply(includes, this, [item])
    }
    Object.defineProperty(Array.prototype, 'includes', { value: counting, configurable: true })
    run()
  } finally {
    for (const [name, value] of [...originals, ['includes', includes] as const]) {
      Object.defineProperty(Array.prototype, name, { value, configurable: true, writable: true })
    }
  }
  return looks
}

const read = (messages: readonly unknown[], pages?: readonly number[]) =>
  readLegacyMessages(messages, {
    ...{ threadId: 't', at: 1, format: 'auto' },
    ...(pages === undefined ? {} : { pages }),
  })

/** The parts of the one turn in these messages. */
const partsOf = (data: readonly unknown[]): readonly OldPart[] =>
  runToEnd(readOldMessages(data, { at: 1, format: 'auto' }, createReport()))
    .messages.map(({ message }) => message as OldTurn)
    .flatMap(({ steps }) => steps)
    .flatMap(({ parts }) => parts)

const answer = { id: 'a', role: 'assistant' }
const row = (entity: string, nth: number, more: object) => ({ id: `r${nth}`, entity, ...more })
const toolRow = (nth: number, id: string) => row('TOOL', nth, { toolCallId: id, content: 'Found.' })
const callRow = (nth: number, ids: readonly string[]) =>
  row('AI_TOOL', nth, { content: '', toolCalls: ids.map((id) => ({ id, name: 'look_up' })) })

const messages: Readonly<Record<string, readonly unknown[]>> = {
  'parts and annotations of AI SDK 4': [
    {
      ...answer,
      content: 'Done.',
      parts: list(() => ({ type: 'text', text: 'Hm.' })),
      annotations: [
        { messageId: 'a' },
        ...list((part) => ({ part, attempt: 'abandoned' })),
        ...list((part) => ({ part, steering: `s${part}`, text: 'Go on.' })),
      ],
    },
  ],
  'results behind their calls in one message': [
    {
      ...answer,
      content: [
        ...list((nth) => ({ type: 'tool-call', toolCallId: `c${nth}`, toolName: 'f', args: {} })),
        ...list((nth) => ({ type: 'tool-result', toolCallId: `c${nth}`, result: 1 })),
      ],
    },
  ],
  'drafts and replies': [
    {
      ...answer,
      content: 'Done.',
      toolCalls: list((step) => ({ id: `c${step}`, name: 'f', step, result: 1 })),
      drafts: list((step) => ({ step, text: 'Hm.' })),
      replies: list((step) => ({ step, text: 'Oh.' })),
    },
  ],
  'messages that joined a turn': [
    {
      ...answer,
      content: 'Done.',
      toolCalls: list((step) => ({ id: `c${step}`, name: 'f', step: 2 * step, result: 1 })),
      steering: list((step) => ({ id: `s${step}`, step, text: 'Go on.' }), 2 * count),
    },
  ],
  'rows of results before their calls': [
    ...list((nth) => toolRow(nth, `c${nth}`)),
    ...list((nth) => callRow(count + nth, [`c${nth}`])),
  ],
  'rows of results without calls': list((nth) => toolRow(nth, `c${nth}`)),
  'rows of calls and results that share an id': [
    callRow(
      0,
      list(() => 'c'),
    ),
    ...list((nth) => toolRow(nth + 1, 'c'), 2 * count),
  ],
}

describe('[OP7] the work grows with the data, not with its square:', () => {
  it.each(Object.entries(messages))('%s', (_, data) => {
    let events = 0
    const looks = countLooks(() => (events = read(data).events.length))
    expect(events).toBeGreaterThan(count)
    expect(looks).toBeLessThan(few)
  })

  it.each([
    ['other names', (nth: number) => ({ name: `f${nth}` })],
    [
      'other arguments',
      (nth: number) => ({ input: { kind: 'complete', value: { nth } } as const }),
    ],
  ])('calls with one id and %s', (_, toMore) => {
    let looks = 0
    const outcome = { state: 'stopped', cause: 'stopped' } as const
    const calls = list((nth): OldCall => {
      const call = { type: 'call', id: 'c', outcome, name: 'f', ...toMore(nth) } as const
      const input = { kind: 'complete', value: {} } as const
      return Object.defineProperty({ input, ...call }, 'name', {
        get: () => {
          looks++
          return call.name
        },
      })
    })
    expect(runToEnd(mergeRepeatedCalls([...calls, ...calls], () => {}))).toHaveLength(count)
    expect(looks).toBeLessThan(few)
  })

  const call = (nth: number, more: Partial<OldCall> = {}): OldCall => ({
    ...{ type: 'call', id: `c${nth}`, name: 'f', outcome: 'open', createdAt: nth },
    ...{ input: { kind: 'complete', value: {} } },
    ...more,
  })
  const turn = (toStep: (nth: number) => OldStep, length = count): OldTurn => ({
    ...{ kind: 'turn', steps: list(toStep, length) },
  })
  const ended = { outcome: { state: 'stopped', cause: 'stopped' } } as const
  const unnamedCall = (nth: number): OldCall => {
    const { id: _, ...rest } = call(nth, ended)
    return rest
  }

  it.each([
    ['by their ids', call, call],
    ['by their tools', call, unnamedCall],
  ])('calls of a stored turn that are found %s', (_, toStored, toRead) => {
    const stored = turn((nth) => ({ parts: [toStored(nth)] }))
    const now = turn((nth) => ({ parts: [toRead(nth)] }))
    const looks = countLooks(() => runToEnd(mergeTurn(runToEnd(indexTurn(stored)), now)))
    expect(looks).toBeLessThan(few)
  })

  it.each([
    ['the same', (nth: number) => `Step ${nth}`],
    ['longer', (nth: number) => `Step ${nth}, and more`],
    ['others', (nth: number) => `Other ${nth}`],
  ])('rows of a stored turn that are %s, without dates', (_, toText) => {
    const text = (some: string): OldPart => ({ type: 'text', text: some })
    const stored = turn((nth) => ({ parts: [text(`Step ${nth}`), call(nth)] }))
    const now = turn((nth) => ({ parts: [text(toText(nth)), call(nth, ended)] }))
    const known = runToEnd(indexTurn(stored))
    const looks = countLooks(() =>
      expect(runToEnd(mergeTurn(known, now, true))?.steps.length).toBeGreaterThanOrEqual(count),
    )
    expect(looks).toBeLessThan(few)
  })

  const item = (nth: number, message: NamedMessage['message'], more: object = {}) => ({
    ...{ id: `m${nth}`, index: nth, message, isImported: true, ...more },
  })
  const merge = (
    stored: readonly ReturnType<typeof item>[],
    now: readonly NamedMessage[],
    orphans: Parameters<typeof mergeThread>[2]['orphans'] = [],
  ) => runToEnd(mergeThread(stored, now, { orphans }, createReport()))
  const question = (nth: number, at: number) =>
    item(nth, { kind: 'user', role: 'user', at, parts: [] })

  it('a piece of a stored turn that is looked for', () => {
    const stored = [
      item(
        0,
        turn((nth) => ({ parts: [call(nth)] })),
      ),
    ]
    const piece = item(
      9,
      turn((nth) => ({ parts: [call(nth)] })),
      { joins: 'by-shape' },
    )
    const looks = countLooks(() => expect(merge(stored, [piece]).known).toBe(1))
    expect(looks).toBeLessThan(few)
  })

  it('results whose calls are stored', () => {
    const stored = [
      item(
        0,
        turn((nth) => ({ parts: [call(nth)] })),
      ),
    ]
    let settled = 0
    const end = (some: OldCall): OldCall => ({ ...some, outcome: ended.outcome, step: settled++ })
    const orphans = list((nth) => ({ index: nth, callId: `c${nth}`, end }))
    const looks = countLooks(() => merge(stored, [], orphans))
    expect(settled).toBe(count)
    expect(looks).toBeLessThan(few)
  })

  it('questions behind a turn of as many steps', () => {
    const stored = [
      item(
        0,
        turn((at) => ({ at, parts: [call(at)] })),
      ),
    ]
    const now = list((nth) => question(nth + 1, count))
    const looks = countLooks(() => expect(merge(stored, now).messages).toHaveLength(count + 1))
    expect(looks).toBeLessThan(few)
  })

  it('pages of which each has a little of a turn', () => {
    const calls = list((nth) => ({ id: `c${nth}`, name: 'f', result: 1 }))
    const page = (at: number) => ({ ...answer, createdAt: at, content: `Page ${at}` })
    const small = list((nth) => ({ ...page(nth + 2), toolCalls: [calls[0]] }))
    const all = [{ ...page(1), toolCalls: calls }, ...small]
    const pages = list((nth) => nth, count + 1)
    const looks = countLooks(() => expect(read(all, pages).counts.calls).toBe(count))
    expect(looks).toBeLessThan(few)
  })
})

describe('[OP7] what would take minutes takes no time:', () => {
  it('lists in lists in a row', () => {
    const nest = (depth: number): Json => (depth === 0 ? 'Hi' : [nest(depth - 1)])
    for (const content of [nest(50), JSON.stringify(nest(50)), JSON.stringify([nest(49), 1])]) {
      expect(read([row('AI_MESSAGE', 1, { content })])).toMatchObject({ failed: [] })
    }
  })

  it('white space before, and within, what thousands of calls say', () => {
    const space = ' '.repeat(2_000_000)
    const repeatText = (text: string) => Array.from({ length: 5_000 }, () => text)
    expect(stripCommentary(`${space}Done.`, repeatText('Look.'))).toBe(`${space}Done.`)
    expect(stripCommentary(`Look${space}up.`, repeatText('Look at.'))).toBe(`Look${space}up.`)
  })

  it('content that nearly stands in the commentary', () => {
    const content = `${'a'.repeat(500_000)}b${'a'.repeat(500_000)}`
    const call = { type: 'tool-f', toolCallId: 'c', state: 'output-available', output: 1 }
    const parts = [{ type: 'text', text: 'a'.repeat(4_000_000) }, call]
    const { events } = read([{ ...answer, content, parts }])
    expect(events.filter(({ type }) => type === 'text-started')).toHaveLength(2)
  })

  it('calls of one row with one id', { timeout: 30_000 }, () => {
    const ids = list(() => 'c', 200_000)
    expect(partsOf([callRow(0, ids)])).toHaveLength(ids.length)
  })

  it('people who speak in the middle of a turn of rows', { timeout: 30_000 }, () => {
    const more = { messageId: 'm', content: 'Go on.' }
    const rows = [
      row('AI_TOOL', 0, { ...more, toolCalls: [{ id: 'c', name: 'f' }] }),
      row('AI_MESSAGE', 1, more),
      ...list((nth) => row('USER', nth + 2, more), 120_000),
    ]
    expect(partsOf(rows).filter(({ type }) => type === 'steering')).toHaveLength(120_000)
  })

  it('ids that are taken', () => {
    const place = ['x'.repeat(1_000_000)]
    const taken = new Set<string>()
    const keeper = createIdKeeper('t', (_, id) => taken.has(id))
    const derive = () => keeper.message(undefined, place, () => {})
    for (let nth = 0; nth < 20; nth++) taken.add(derive())
    expect(taken.size).toBe(20)
    const many = list(() => keeper.message(undefined, ['same'], () => {}), 50_000)
    expect(new Set(many).size).toBe(many.length)
  })
})

describe('[OP7b] long work can be paused:', () => {
  const pausesOf = (work: PausableWork<unknown>): number => {
    let pauses = 0
    while (work.next().done !== true) pauses++
    return pauses
  }
  const readIn = (...data: readonly unknown[]) =>
    pausesOf(readOldMessages(data, { at: 1, format: 'auto' }, createReport()))
  const values = list((nth) => ({ nth }))

  it.each([
    ['values at any level', 1, { ...answer, content: { a: { b: { c: values } } } }],
    ['the calls of a row', 3, row('AI_TOOL', 1, { content: '', toolCalls: values })],
    ['marks of an answer', 4, { ...answer, content: '', annotations: values, parts: values }],
  ])('%s', (_, times, message) => {
    expect(readIn(message)).toBeGreaterThan(times * count)
  })

  it('the rows of a turn', () => {
    const rows = list((nth) => callRow(nth, [`c${nth}`]))
    // Each is converted, known, searched for repeats, put in order, read, and made a step.
    expect(readIn(...rows)).toBeGreaterThan(12 * count)
  })

  it('megabytes of JSON in a text', () => {
    const toolCalls = `[${`"${'x'.repeat(47)}",`.repeat(100_000)}1]`
    const before = readIn({ ...answer, toolCalls: '[{}]' })
    expect(readIn({ ...answer, toolCalls }) - before).toBeGreaterThan(70)
  })
})
