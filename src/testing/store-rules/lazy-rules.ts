import assert from 'node:assert/strict'
import type { CallOutput } from '../../core/call.ts'
import { parseCallId } from '../../core/ids.ts'
import type { Json } from '../../core/json.ts'
import { callsOf, type Message } from '../../core/message.ts'
import { lazyBytes, type Store } from '../../store/store.ts'
import { readPage } from './read-thread.ts'
import type { StoreRule } from './store-rule.ts'
import {
  append,
  begun,
  createThread,
  ended,
  recorded,
  settled,
  started,
  thread,
} from './thread-script.ts'

/** By the bytes of their JSON: at the edge, over it, and over it only when counted as bytes. */
const values: readonly Json[] = [
  'a'.repeat(lazyBytes - 2),
  'a'.repeat(lazyBytes - 1),
  'é'.repeat(lazyBytes / 2),
  null,
  { list: Array.from({ length: 4000 }, (_, index) => index) },
]
const numbered = (index: number) => parseCallId(`call-${index}`)
const calls = values.map((_, index) => numbered(index))
const bytesOf = (value: Json) => new TextEncoder().encode(JSON.stringify(value)).length

const expected: readonly CallOutput[] = values.map((value) => {
  const bytes = bytesOf(value)
  return bytes > lazyBytes ? { kind: 'omitted', bytes } : { kind: 'inline', value }
})

async function writeCalls(store: Store): Promise<void> {
  await createThread(store)
  await append(store, [started(), ...calls.flatMap((id) => [recorded(id), begun(id)])])
  for (const [index, value] of values.entries()) {
    const output = { kind: 'inline', value } as const
    const outcome = { state: 'succeeded', output, modelOutput: { told: index } } as const
    await append(store, [settled(outcome, numbered(index))])
  }
}

function outputsIn(message: Message | undefined): readonly CallOutput[] {
  assert.ok(message?.role === 'assistant')
  return [...callsOf(message)].map((one) => {
    assert.ok(one.state === 'succeeded')
    const isOmitted = one.output.kind === 'omitted'
    // The model output is as long as the result, or longer.
    assert.equal(one.modelOutput === undefined, isOmitted)
    return one.output
  })
}

export const lazyRules: readonly StoreRule[] = [
  {
    id: 'PG7',
    claim: 'leaves at least results over 16 kB out of a read of texts alone, and changes no other',
    async check({ open }) {
      const store = await open()
      await writeCalls(store)
      await append(store, [ended()])
      const found = outputsIn((await readPage(store, { results: 'none' })).messages[0])
      assert.equal(found.length, expected.length)
      for (const [index, output] of found.entries()) {
        // A store that has not read them does not know their sizes.
        if (output.kind === 'inline') assert.deepEqual(output, expected[index])
      }
    },
  },
  {
    id: 'PG7',
    claim:
      'leaves results over 16 kB out of a lazy page, open or snapshotted, and returns their size',
    async check({ open, reopen }) {
      assert.ok(expected.filter((output) => output.kind === 'omitted').length === 3)
      const first = await open()
      await writeCalls(first)
      const lazy = async (store: Store) =>
        outputsIn((await readPage(store, { results: 'lazy' })).messages[0])
      assert.deepEqual(await lazy(first), expected)
      await append(first, [ended()])
      const store = await reopen(first)
      assert.deepEqual(await lazy(store), expected)
      const inline = values.map((value) => ({ kind: 'inline', value }))
      assert.deepEqual(outputsIn((await readPage(store)).messages[0]), inline)
    },
  },
  {
    id: 'PG7',
    claim: 'returns results that were left out, one by one',
    async check({ open, reopen }) {
      const first = await open()
      await writeCalls(first)
      await append(first, [ended()])
      const store = await reopen(first)
      for (const [index, value] of values.entries()) {
        const found = (await store.readCall(thread, numbered(index)))?.call
        assert.ok(found?.state === 'succeeded')
        assert.deepEqual(found.output, { kind: 'inline', value })
        assert.deepEqual(found.modelOutput, { told: index })
      }
    },
  },
  {
    id: 'PG7',
    claim: 'leaves long results out of lazy changes too, as events and in snapshotted turns',
    async check({ open }) {
      const store = await open()
      await writeCalls(store)
      const query = { threadId: thread, after: 0, limit: 100, results: 'lazy' } as const
      const read = await store.readChanges(query)
      const outputs = read?.changes.flatMap((change) => {
        if (change.kind !== 'event' || change.event.type !== 'call-settled') return []
        const { outcome } = change.event
        return outcome.state === 'succeeded' ? [outcome.output] : []
      })
      assert.deepEqual(outputs, expected)
      await append(store, [ended()])
      const snapshotted = (await store.readChanges(query))?.changes[0]
      assert.ok(snapshotted?.kind === 'turn')
      assert.deepEqual(outputsIn(snapshotted.turn), expected)
    },
  },
]
