import {
  type Frame,
  memory,
  type PageQuery,
  parseMessageId,
  parseOwnerId,
  parseThreadId,
  type Store,
} from 'holdfast'
import { describe, expect, it } from 'vitest'
import { createHub } from '../../src/engine/follow/hub.ts'
import { appendEvents } from '../../src/testing/store-rules/append-events.ts'
import { messageAdded } from '../../src/testing/store-rules/thread-script.ts'
import { createFixture, tools } from './fixture.ts'

const threadId = parseThreadId('long')

async function createLongThread(messages: number, length: number): Promise<Store> {
  const store = memory()
  await store.createThread({ id: threadId, ownerId: parseOwnerId('ana'), title: '', at: 1 })
  for (let index = 0; index < messages; index++) {
    const events = [messageAdded('x'.repeat(length), parseMessageId(`m${index}`))]
    await appendEvents(store, { threadId, events })
  }
  return store
}

async function readFrames(
  frames: AsyncGenerator<Frame, void>,
  upTo: number,
): Promise<readonly Frame[]> {
  const taken: Frame[] = []
  for (;;) {
    const { value } = await frames.next()
    if (value === undefined) throw new Error('It ended.')
    taken.push(value)
    if (value.seq >= upTo) return taken
  }
}

describe('a follower who is far behind', () => {
  it.each([
    ['in number', 1_200, 1],
    ['in bytes', 40, 100_000],
  ])('[RS2] %s gets all of it though nothing more happens', async (_, messages, length) => {
    const hub = createHub(await createLongThread(messages, length))
    const leave = new AbortController()
    const frames = await readFrames(hub.follow(threadId, 0, leave.signal), messages)
    expect(frames.length).toBeGreaterThan(2)
    expect(frames.flatMap(({ changes }) => changes.map(({ seq }) => seq))).toEqual(
      Array.from({ length: messages }, (__, index) => index + 1),
    )
    leave.abort()
    hub.close()
  })

  it('[OP7a] gets frames of a bounded size, the same objects as whoever stands at the same place', async () => {
    const store = await createLongThread(40, 100_000)
    let reads = 0
    const hub = createHub({
      ...store,
      readChanges(query) {
        reads++
        return store.readChanges(query)
      },
    })
    const leave = new AbortController()
    const [mine = [], ...others] = await Promise.all(
      Array.from({ length: 50 }, () => readFrames(hub.follow(threadId, 0, leave.signal), 40)),
    )
    for (const { changes } of mine) expect(JSON.stringify(changes).length).toBeLessThan(300_000)
    for (const theirs of others) {
      expect(theirs.map((frame, index) => frame === mine[index])).toEqual(mine.map(() => true))
    }
    expect(reads).toBe(mine.length)
    leave.abort()
    hub.close()
  })
})

it('[OP7a] a second message reads who and in which state, and no large result', async () => {
  const store = memory()
  const pages: PageQuery[] = []
  const large = 'r'.repeat(50_000)
  const fixture = await createFixture(
    ({ index }) =>
      index === 0 ? [{ call: 'echo', input: { value: large } }] : [{ text: 'Done.' }],
    {
      tools: tools(),
      store: {
        ...store,
        readPage(query) {
          pages.push(query)
          return store.readPage(query)
        },
      },
    },
  )
  await fixture.runTurn('first')
  pages.length = 0
  const sent = await fixture.send('second')
  expect(sent.kind).toBe('started')
  expect(pages[0]).toMatchObject({ results: 'lazy' })
  await fixture.holdfast.settled()
  // The model is still sent all of it.
  expect(JSON.stringify(fixture.calls.at(-1)?.prompt)).toContain(large)
})
