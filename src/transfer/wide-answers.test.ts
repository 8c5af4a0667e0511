import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Json } from '../core/json.ts'
import { mostWidth } from '../core/json-width.ts'
import { parseOwnerId, parseThreadId } from '../core/ids.ts'
import { mostImportedParts, tooManyValues } from '../import/message-width.ts'
import { memory } from '../store/memory/index.ts'
import type { Store } from '../store/store.ts'
import { exportThread } from './export-threads.ts'
import { importThreads } from './import-threads.ts'
import { readImport } from './read-import.ts'

const keys = (count: number, prefix: string): Json =>
  Object.fromEntries(Array.from({ length: count }, (_, nth) => [`${prefix}${nth}`, nth]))
/** Small objects no two of which have a key in common. */
const strangers = (count: number): readonly Json[] =>
  Array.from({ length: count / 100 }, (_, nth) => keys(100, `k${nth}-`))
const three = <Item>(toItem: (nth: number) => Item): readonly Item[] => [1, 2, 3].map(toItem)

const user = { id: 'u', role: 'user', content: 'Hi' }
const answer = { id: 'a', role: 'assistant' }
const toPart = (nth: number, output: Json = keys(18_000, `id-${nth}-`)) => ({
  ...{ type: 'tool-look', toolCallId: `c${nth}`, state: 'output-available' },
  ...{ input: { nth }, output },
})
const used = (nth: number) => ({
  ...{ tool: 'look', toolCallId: `c${nth}`, input: { nth }, result: keys(18_000, `id-${nth}-`) },
})
const bounded = { messageChars: 8_388_608 }

function load(store: Store, lines: readonly object[], options: { messageChars?: number } = {}) {
  async function* source() {
    yield lines.map((line) => JSON.stringify(line)).join('\n')
  }
  return importThreads(store, readImport(source(), options), {
    ...{ ownerId: parseOwnerId('local'), now: () => 1 },
  })
}
const toThread = (...messages: readonly object[]) => ({ id: 't', messages: [user, ...messages] })

describe('an answer whose calls have many different keys, each of them its own', () => {
  const parts = three((nth) => toPart(nth))
  it.each<[where: string, message: object]>([
    ['parts', { ...answer, parts }],
    ['content', { ...answer, content: parts }],
    ['a column of parts', { ...answer, parts: JSON.stringify(parts) }],
    [
      'parts, each a text',
      { ...answer, toolInvocations: three((nth) => JSON.stringify(used(nth))) },
    ],
    ['tools_used', { ...answer, content: 'Hi', metadata: { tools_used: three(used) } }],
    [
      'a column of metadata',
      { ...answer, content: 'Hi', metadata: JSON.stringify({ tools_used: three(used) }) },
    ],
    ['a row of Mastra', { ...answer, content: { format: 2, parts } }],
    ['a row of Mastra, as a text', { ...answer, content: JSON.stringify({ format: 2, parts }) }],
    ['a message inside', { id: 'a', thread: 't', message: { role: 'assistant', parts } }],
  ])('[LE5 CL6b] is imported: %s', async (_, message) => {
    const report = await load(memory(), [toThread(message)], bounded)
    expect(report).toMatchObject({ messages: 2, calls: 3, failed: [] })
  })

  it.each(['ui', 'vercel', 'entities', 'chat'] as const)(
    '[LE5 CL6b] is imported from an export, where each has as many as it may have: %s',
    async (format) => {
      const most = {
        ...toPart(1, keys(mostWidth.keys, 'out-')),
        input: keys(mostWidth.keys, 'in-'),
      }
      const [from, to] = [memory(), memory()]
      await load(from, [toThread({ ...answer, parts: [most, toPart(2)] })])
      const messages = await Array.fromAsync(exportThread(from, parseThreadId('t'), format))
      const report = await load(to, [{ id: 't', messages }], bounded)
      expect(report).toMatchObject({ messages: 2, calls: 2, failed: [] })
    },
  )
})

it('[CL6b] keys of one call are counted together, wherever in it they are', async () => {
  const wide = strangers(60_000)
  const text = JSON.stringify({ rows: wide })
  const report = await load(memory(), [
    toThread(
      { ...answer, id: 'a1', parts: [toPart(1, { rows: wide })] },
      { ...answer, id: 'a2', parts: JSON.stringify([toPart(1, wide)]) },
      { ...answer, id: 'a3', content: { format: 2, parts: [toPart(1, wide)] } },
      { ...answer, id: 'a4', metadata: { more: keys(60_000, 'k') } },
      { ...answer, id: 'a5', parts: [toPart(5)] },
      { ...answer, id: 'a6', toolInvocations: [{ ...used(6), args: text }] },
    ),
  ])
  // Those of columns are found when the columns are read.
  expect(report.failed.map(({ where }) => where).toSorted()).toEqual(
    [1, 2, 3, 4].map((nth) => `messages[${nth}]`),
  )
  for (const { why } of report.failed) expect(why).toBe(tooManyValues)
})

it('[CL6b OP7] what is kept of metadata has no more keys than a part, in lists either', async () => {
  const tagged = (count: number) => ({
    ...user,
    id: `u${count}`,
    metadata: { tags: strangers(count) },
  })
  const report = await load(memory(), [toThread(tagged(50_000), tagged(60_000))], bounded)
  expect(report).toMatchObject({ messages: 2 })
  expect(report.failed).toEqual([{ where: 'messages[2]', why: tooManyValues }])
})

describe('a line with a thread', () => {
  const rows = Array.from({ length: 150_000 }, (_, nth) => nth % 10)
  const toLine = (id: string) => ({
    id,
    messages: Array.from({ length: 8 }, (_, nth) => [
      { ...user, id: `${id}u${nth}` },
      { ...answer, id: `${id}a${nth}`, parts: [toPart(nth, rows)] },
    ]).flat(),
  })

  it('[LE5 CL6b] is imported, whatever its messages have together', async () => {
    const report = await load(memory(), [toLine('s'), toLine('t')], bounded)
    expect(report).toMatchObject({ threads: 2, messages: 32, calls: 16, failed: [] })
  })

  it('[CL6a OP7] is parsed in slices, however deep it is', async () => {
    const deep = `${'['.repeat(50_000)}${JSON.stringify(rows)}${']'.repeat(50_000)}`
    const at = JSON.stringify(toThread({ ...answer, parts: [toPart(1, 'deep')] }))
    const parsing = vi.spyOn(JSON, 'parse')
    onTestFinished(() => parsing.mockRestore())
    async function* source() {
      yield `${JSON.stringify({ id: 's', messages: [] })}\n${at.replace('"deep"', deep)}`
    }
    const options = { ownerId: parseOwnerId('local'), now: () => 1 }
    const report = await importThreads(memory(), readImport(source(), bounded), options)
    expect(report).toMatchObject({ messages: 2, calls: 1, failed: [] })
    expect(report.mended).toEqual([
      { where: 'line 2, messages[1]', what: 'It is nested too deep: a part was cut off.' },
    ])
    expect(Math.max(...parsing.mock.calls.map(([piece]) => piece.length))).toBeLessThan(100_000)
  })

  it('[CL6b OP7] with one object that is too wide is refused with the reason, and what takes it', async () => {
    const wide = { ...answer, parts: [toPart(1, keys(60_000, 'k'))] }
    const lines = [{ id: 's', messages: [{ ...user, id: 'su' }] }, toThread(wide)]
    const refused = await load(memory(), lines, bounded)
    expect(refused).toMatchObject({ threads: 1, messages: 1 })
    expect(refused.failed).toEqual([
      {
        where: 'line 2',
        why: 'One of its objects has more than 51,000 keys, which is the most that is taken here. "holdfast import" takes the rest of the line.',
      },
    ])
    const report = await load(memory(), lines)
    expect(report).toMatchObject({ threads: 2, messages: 2 })
    expect(report.failed).toEqual([{ where: 'line 2, messages[1]', why: tooManyValues }])
  })
})

describe('an answer of very many parts', () => {
  const why = 'It has more than 20,000 steps, parts and calls.'
  const texts = (count: number) =>
    Array.from({ length: count }, () => ({ type: 'text', text: 'x' }))
  const calls = (count: number) => Array.from({ length: count }, (_, nth) => toPart(nth, 1))
  // Each answer has one step, which is counted too.
  it.each<[what: string, (count: number) => readonly object[]]>([
    ['texts', texts],
    ['calls', calls],
  ])(
    '[OP7 LE5] is imported up to a number of them, and reported above it: %s',
    async (_, toParts) => {
      const most = mostImportedParts - 1
      const taken = await load(memory(), [toThread({ ...answer, parts: toParts(most) })])
      expect([taken.messages, taken.failed]).toEqual([2, []])
      const report = await load(memory(), [
        toThread(
          { ...answer, parts: toParts(most + 1) },
          { id: 'v', role: 'user', content: 'So?' },
        ),
      ])
      expect(report).toMatchObject({ messages: 2, failed: [{ why }] })
    },
  )

  it('[OP7 LE5] grows no further by another import, and nothing is lost', async () => {
    const store = memory()
    const rows = (from: number, count: number) => {
      const ids = Array.from({ length: count }, (_, nth) => `c${from + nth}`)
      const toolCalls = ids.map((id) => ({ id, name: 'look', args: {}, result: 1 }))
      const row = { messageId: 'a', entity: 'AI_TOOL', content: '', toolCalls, isComplete: true }
      return { id: 't', messages: [{ ...row, id: `row-${from}`, creationDate: 1 + from }] }
    }
    expect((await load(store, [rows(0, 19_000)])).failed).toEqual([])
    const report = await load(store, [rows(19_000, 1_500)])
    expect(report.failed).toEqual([])
    const partsOf = async (id: string) => {
      const found = await store.findTurn(id)
      return found?.turn.steps.reduce((sum, { parts }) => sum + parts.length, 0)
    }
    // The rest of the answer is a message of its own.
    expect([await partsOf('row-0'), await partsOf('row-19000')]).toEqual([19_000, 1_500])
  })
})
