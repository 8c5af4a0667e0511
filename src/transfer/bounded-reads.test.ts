import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { parseOwnerId, parseThreadId } from '../core/ids.ts'
import { mostVersions } from '../core/versions.ts'
import { createReport } from '../import/old-message.ts'
import { memory } from '../store/memory/index.ts'
import { bytesPerSlice, createPacer } from '../store/pacer.ts'
import type { Store } from '../store/store.ts'
import { exportThread } from './export-threads.ts'
import { readHidden } from './export-versions.ts'
import { importThreads } from './import-threads.ts'
import { readImport } from './read-import.ts'
import { readAll, readRetired } from './read-stored-thread.ts'
import { turnsDuring } from '../../test/support/turns-during.ts'

const thread = parseThreadId('t')
const long = 'x'.repeat(100_000)
const userMessage = (nth: number, text: string) => ({ id: `u${nth}`, role: 'user', content: text })
const many = <Item>(length: number, toItem: (nth: number) => Item): readonly Item[] =>
  Array.from({ length }, (_, nth) => toItem(nth))

async function* piecesOf(...pieces: readonly string[]): AsyncGenerator<string> {
  yield* pieces
}
const load = (store: Store, document: object, options: object = {}) =>
  importThreads(store, readImport(piecesOf(JSON.stringify({ id: 't', ...document }))), {
    ...{ ownerId: parseOwnerId('local'), now: () => 1, ...options },
  })

/** The store, and the limit in bytes of each read of several messages or changes. */
function watch(store: Store) {
  const limits: unknown[] = []
  const watched: Store = {
    ...store,
    readPage(query) {
      if (query.limit > 1) limits.push(query.maxBytes)
      return store.readPage(query)
    },
    readChanges(query) {
      limits.push(query.maxBytes)
      return store.readChanges(query)
    },
  }
  return { watched, limits }
}

describe('[OP7b] what an import reads of a thread', () => {
  const messages = many(12, (nth) => userMessage(nth, `${nth} ${long}`))
  const more = [
    ...messages.slice(0, 6),
    userMessage(99, `In between ${long}`),
    ...messages.slice(6),
  ]
  const dated = <Message extends object>(list: readonly Message[]) =>
    list.map((message, nth) => ({ ...message, createdAt: nth + 1 }))

  it('is bounded in bytes, however few messages a read then returns', async () => {
    const { watched, limits } = watch(memory())
    await load(watched, { messages: dated(messages) })
    const report = await load(watched, { messages: dated(more), order: 'oldest-first' })
    expect(report).toMatchObject({ messages: 13, skipped: 12, failed: [] })
    const stored = await readAll(watched, thread, createPacer())
    expect(stored.messages.map(({ id }) => id)).toEqual(more.map(({ id }) => id))
    const retired = await readRetired(watched, thread, 1, createPacer())
    expect(retired.toSorted()).toEqual(many(6, (nth) => `u${nth + 6}`).toSorted())
    expect(limits.length).toBeGreaterThan(10)
    expect(new Set(limits)).toEqual(new Set([bytesPerSlice]))
  })

  it('is so for a dry run too, which copies the thread', async () => {
    const store = memory()
    await load(store, { messages: dated(messages) })
    const { watched, limits } = watch(store)
    const scratch = memory()
    const report = await load(watched, { messages: dated(more) }, { dryRun: { scratch } })
    expect(report).toMatchObject({ dryRun: true, messages: 13, skipped: 12, failed: [] })
    const copied = await Array.fromAsync(exportThread(scratch, thread, 'ui'))
    expect(copied.length).toBeGreaterThanOrEqual(messages.length)
    expect(limits.length).toBeGreaterThan(4)
    expect(new Set(limits)).toEqual(new Set([bytesPerSlice]))
  })
})

describe('[OP7b] others have their turn', () => {
  const countTurnsOfImport = async (...pieces: readonly string[]) => {
    const work = () => Array.fromAsync(readImport(piecesOf(...pieces)))
    return (await turnsDuring(work)).turns
  }
  const first = `${JSON.stringify({ ...userMessage(0, 'Hi'), threadId: 't' })}\n`.repeat(3)

  it.each([
    ['blank lines', ['\n'.repeat(65_536)]],
    ['lines of spaces', [' \n'.repeat(32_768)]],
  ])('while millions of %s are read', async (_, lines) => {
    expect(await countTurnsOfImport(first, ...many(40, () => lines[0] ?? ''))).toBeGreaterThan(0)
  })

  it('while white space between values is read', async () => {
    const space = many(200, () => ' '.repeat(65_536))
    expect(
      await countTurnsOfImport('[', ...space, JSON.stringify(userMessage(0, 'Hi')), ']'),
    ).toBeGreaterThan(0)
  })

  it.each([
    ['document', (message: string) => `{"id":"t","messages":[${message}]}`],
    ['list', (message: string) => `[${message}]`],
    ['line', (message: string) => `${first}${message}\n`],
  ])('while a message of very many texts is parsed: in a %s', async (_, wrap) => {
    const content = many(200_000, (nth) => `text ${nth}`)
    const text = wrap(JSON.stringify({ ...userMessage(0, ''), threadId: 't', content }))
    const parsing = vi.spyOn(JSON, 'parse')
    onTestFinished(() => parsing.mockRestore())
    const items = await Array.fromAsync(readImport(piecesOf(text)))
    const longest = Math.max(...parsing.mock.calls.map(([piece]) => piece.length))
    expect(items).toContainEqual(
      expect.objectContaining({
        kind: 'message',
        value: expect.objectContaining({ content }) as unknown,
      }),
    )
    expect(longest).toBeLessThan(100_000)
  })

  it('while a history is searched for hidden messages', async () => {
    const store = memory()
    await load(store, {
      messages: many(1_500, (nth) => userMessage(nth, 'Hi')),
      hiddenMessages: [{ ...userMessage(9_999, 'Ho'), version: 'u9999@1', follows: null }],
    })
    let found = 0
    const { turns } = await turnsDuring(async () => {
      for await (const { message } of readHidden(store, thread)) found += message.id.length
    })
    expect(found).toBe('u9999'.length)
    expect(turns).toBeGreaterThan(0)
  })
})

describe('[OP7] what an import holds', () => {
  it('of its problems are those that are listed, and the number of the others', async () => {
    const report = createReport(undefined, 2)
    for (let nth = 0; nth < 5; nth++) {
      report.mend(nth, 'mended')
      report.guess(nth, 'guessed')
      report.fail(nth, 'failed')
    }
    for (const kind of ['mended', 'guessed', 'failed'] as const) {
      expect(report[kind].map(({ where }) => where)).toEqual(['messages[0]', 'messages[1]'])
      expect(report.unlisted[kind]).toBe(3)
    }
    const parts = many(50, () => 'no part')
    const problems: unknown[] = []
    const messages = [{ ...userMessage(0, 'Hi'), parts }]
    const listed = await load(memory(), { messages }, { listed: 10 })
    expect(listed.mended).toHaveLength(10)
    expect(listed.unlisted).toEqual({ guessed: 0, mended: 40, failed: 0 })
    const onProblem = (problem: unknown) => problems.push(problem)
    await load(memory(), { messages }, { listed: 0, onProblem })
    expect(problems).toHaveLength(50)
  })

  it('of the versions of a message are as many as a person can make', async () => {
    const store = memory()
    const answer = (nth: number) => ({ id: `a${nth}`, role: 'assistant', content: `Answer ${nth}` })
    const report = await load(store, {
      messages: [userMessage(0, 'Hi'), answer(0)],
      hiddenMessages: many(mostVersions + 20, (nth) => ({
        ...{ ...answer(nth + 1), version: `a${nth + 1}`, follows: 'u0@1', nth },
      })),
    })
    expect(report.failed).toHaveLength(21)
    const shown = await store.readMessage(thread, 'a0')
    expect(shown?.versions).toHaveLength(mostVersions)
  })
})
