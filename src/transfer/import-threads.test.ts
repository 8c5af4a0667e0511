import { describe, expect, it } from 'vitest'
import { parseOwnerId, parseThreadId } from '../core/ids.ts'
import { memory } from '../store/memory/index.ts'
import type { Store } from '../store/store.ts'
import { exportThread } from './export-threads.ts'
import { importThreads } from './import-threads.ts'
import { readImport } from './read-import.ts'
import { turnsDuring } from '../../test/support/turns-during.ts'

async function* textOf(document: unknown): AsyncGenerator<string> {
  yield JSON.stringify(document)
}
const load = (store: Store, document: unknown, owner = 'local') =>
  importThreads(store, readImport(textOf(document)), {
    ownerId: parseOwnerId(owner),
    trustsOwners: true,
    now: () => 1_700_000_000_000,
  })
const shownOf = (store: Store, threadId: string) =>
  Array.fromAsync(exportThread(store, parseThreadId(threadId), 'ui'))

describe('importing again', () => {
  const toolCalls = [{ id: 'c', name: 'count', args: {}, result: 3, status: 'completed' }]
  const messages = [
    { id: 'u', role: 'user', content: 'Count.' },
    { id: 'a', role: 'assistant', content: 'Three.', toolCalls },
  ]

  it('[LE5] reports ids that two threads share in the same way as the first time, and changes nothing', async () => {
    const store = memory()
    const document = {
      threads: [
        { id: 'one', messages },
        { id: 'two', messages },
      ],
    }
    const first = await load(store, document)
    expect(first.mended).toEqual([
      {
        where: 'threads[1].messages[1]',
        what: 'The message id "a" was not kept: it became msg_2cdc19473a9f63b4.',
      },
    ])
    const shown = [await shownOf(store, 'one'), await shownOf(store, 'two')]
    expect(await load(store, document)).toEqual({ ...first, skipped: 4 })
    expect([await shownOf(store, 'one'), await shownOf(store, 'two')]).toEqual(shown)
  })
})

describe('a thread', () => {
  const messages = [{ id: 'u', role: 'user', content: 'Hi' }]

  it('[LE5] whose owner cannot be one is named, and the others are kept', async () => {
    const threads = [
      { id: 'bad', owner: 'a\u0000b', messages },
      { id: 'good', messages },
    ]
    expect(await load(memory(), { threads })).toEqual({
      threads: 2,
      messages: 1,
      calls: 0,
      callsByState: {},
      skipped: 0,
      updated: 0,
      guessed: [],
      mended: [],
      failed: [{ where: 'threads[0]', why: 'Its owner is not one that a thread can have.' }],
    })
  })

  it('[LE5] whose id is not kept is named, each time', async () => {
    const store = memory()
    await load(store, { threads: [{ id: 'mine', messages }] }, 'ana')
    const document = {
      threads: [
        { id: 'mine', messages },
        { id: 'no\nline', messages },
      ],
    }
    const { mended } = await load(store, document)
    expect(mended).toEqual([
      {
        where: 'threads[0]',
        what: 'The thread id "mine" was not kept: it became thr_6a549c1e81293f81.',
      },
      {
        where: 'threads[1]',
        what: 'The thread id "no\\nline" is not valid: it became thr_d4884161fb294ac2.',
      },
    ])
    expect(await load(store, document)).toMatchObject({ mended, messages: 2, skipped: 2 })
  })
})

describe('other work of the process', () => {
  it.each(['oldest first', 'newest first'])(
    '[OP7] gets their turn while a long thread is imported, %s',
    async (order) => {
      const text = 'What was found. '.repeat(64)
      const messages = Array.from({ length: 3_000 }, (_, index) => {
        const toolCalls = [
          { id: `c${index}`, name: 'find', args: {}, result: text, status: 'completed' },
        ]
        const rest = index % 2 === 0 ? { role: 'user' } : { role: 'assistant', toolCalls }
        return {
          id: `m${index}`,
          content: text,
          createdAt: 1_700_000_000_000 + index * 1_000,
          ...rest,
        }
      })
      const given = order === 'oldest first' ? messages : messages.toReversed()
      const { turns, result: report } = await turnsDuring(() =>
        load(memory(), { id: 'long', messages: given }),
      )
      expect(report).toMatchObject({ messages: 3_000, failed: [] })
      // Without pauses the event loop turns when the source is read and when it has ended, and never between.
      expect(turns).toBeGreaterThan(5)
    },
  )
})
