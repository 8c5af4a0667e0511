import assert from 'node:assert/strict'
import { foldThread } from '../../core/fold-thread.ts'
import { parseCallId, parseMessageId } from '../../core/ids.ts'
import { callsOf, type Message } from '../../core/message.ts'
import { largestTurnBytes, type PageOrder, type Store } from '../../store/store.ts'
import { nothing, readPage } from './read-thread.ts'
import type { StoreRule } from './store-rule.ts'
import {
  append,
  begun,
  createThread,
  ended,
  recorded,
  messageAdded,
  started,
  succeeded,
  text,
  thread,
} from './thread-script.ts'

const long = 'a'.repeat(40_000)
const bound = 100_000

/** Four questions and answers of 40 kB each, with a result of 40 kB in every answer. */
async function writeLongThread(store: Store): Promise<void> {
  await createThread(store)
  for (let index = 0; index < 4; index++) {
    const id = parseMessageId(`turn-${index}`)
    const call = parseCallId(`call-${index}`)
    await append(store, [messageAdded(long, parseMessageId(`user-${index}`))])
    await append(store, [started(id), recorded(call, { turnId: id }), begun(call, id)])
    await append(store, [succeeded(long, call, id), ...text(long, id)])
    // The last one stays open: its events are in another table.
    if (index < 3) await append(store, [ended(id)])
  }
}

const largeTurn = parseMessageId('large')
const count = 5
const callIds = Array.from({ length: count }, (_, index) => parseCallId(`part-${index}`))
const [firstCall = parseCallId('part-0')] = callIds
const part = 'b'.repeat(Math.ceil(largestTurnBytes / (count - 1)))

/** One turn that is larger than a bounded read allows, although each of its results is smaller. */
async function writeLargeTurn(store: Store): Promise<void> {
  await createThread(store)
  await append(store, [messageAdded('hi')])
  await append(store, [
    started(largeTurn),
    ...callIds.flatMap((id) => [recorded(id, { turnId: largeTurn }), begun(id, largeTurn)]),
  ])
  for (const id of callIds) await append(store, [succeeded(part, id, largeTurn)])
  await append(store, [ended(largeTurn)])
}

function kindsIn(message: Message | null | undefined): readonly string[] {
  assert.ok(message?.role === 'assistant')
  return [...callsOf(message)].map((call) =>
    call.state === 'succeeded' ? call.output.kind : call.state,
  )
}
const all = (kind: string): readonly string[] => callIds.map(() => kind)

export const byteRules: readonly StoreRule[] = [
  {
    id: 'OP7a',
    claim:
      'cuts a page at a message when it has enough bytes, and all pages together are the thread',
    async check({ open }) {
      const store = await open()
      await writeLongThread(store)
      const whole = await readPage(store)
      assert.equal(whole.messages.length, 8)
      for (const order of ['newest-first', 'oldest-first'] satisfies PageOrder[]) {
        const messages: Message[] = []
        for (let before: number | null = null; ;) {
          const page = await readPage(store, { before, order, maxBytes: bound })
          const bytes = JSON.stringify(page.messages).length
          assert.ok(page.messages.length > 0)
          assert.ok(page.messages.length === 1 || bytes <= bound * 1.1, `${bytes} bytes on a page`)
          messages.push(...page.messages)
          before = page.messages.at(-1)?.seq ?? null
          if (!page.hasMore) break
        }
        const expected = order === 'newest-first' ? whole.messages : whole.messages.toReversed()
        assert.deepEqual(messages, expected)
      }
    },
  },
  {
    id: 'OP7a',
    claim: 'cuts changes when they have enough bytes, and continues where it was cut',
    async check({ open }) {
      const store = await open()
      await writeLongThread(store)
      let view = nothing
      let reads = 0
      for (let after = 0; ;) {
        const read = await store.readChanges({
          threadId: thread,
          after,
          limit: 500,
          results: 'full',
          maxBytes: bound,
        })
        assert.ok(read !== null)
        reads++
        const bytes = JSON.stringify(read.changes).length
        assert.ok(read.changes.length === 1 || bytes <= bound * 1.1, `${bytes} bytes in a read`)
        view = foldThread(view, read.changes)
        if (read.reached === read.seq) break
        assert.ok(read.reached > after, 'every read gets further')
        after = read.reached
      }
      assert.ok(reads >= 4)
      assert.deepEqual(view.messages.toReversed(), (await readPage(store)).messages)
    },
  },
  {
    id: 'OP7a',
    claim: 'leaves the results out of a turn that is too large with them, in bounded reads alone',
    async check({ open }) {
      const store = await open()
      await writeLargeTurn(store)
      const page = async (results: 'bounded' | 'full') =>
        kindsIn((await readPage(store, { results, maxBytes: largestTurnBytes })).messages[0])
      assert.deepEqual(await page('bounded'), all('omitted'))
      assert.deepEqual(await page('full'), all('inline'))
      const message = (results?: 'bounded') => store.readMessage(thread, largeTurn, results)
      assert.deepEqual(kindsIn(await message('bounded')), all('omitted'))
      assert.deepEqual(kindsIn(await message()), all('inline'))
      assert.deepEqual(kindsIn((await store.findTurn(largeTurn, 'bounded'))?.turn), all('omitted'))
      const found = await store.readCall(thread, firstCall, 'bounded')
      assert.ok(found?.call.state === 'succeeded')
      assert.deepEqual(found.call.output, { kind: 'inline', value: part })
      const changes = await store.readChanges({
        threadId: thread,
        after: 0,
        limit: 500,
        results: 'bounded',
        maxBytes: bound,
      })
      const turns = changes?.changes.flatMap((change) =>
        change.kind === 'turn' ? [change.turn] : [],
      )
      assert.deepEqual(turns?.map(kindsIn), [all('omitted')])
    },
  },
  {
    id: 'OP7a',
    claim: 'keeps the results in a bounded read of a turn that is not too large',
    async check({ open }) {
      const store = await open()
      await writeLongThread(store)
      const turns = (await readPage(store, { results: 'bounded' })).messages.filter(
        ({ role }) => role === 'assistant',
      )
      assert.deepEqual(turns.map(kindsIn), [['inline'], ['inline'], ['inline'], ['inline']])
    },
  },
]
