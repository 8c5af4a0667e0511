import assert from 'node:assert/strict'
import type { Json } from '../../core/json.ts'
import { callsOf, type Message } from '../../core/message.ts'
import { readChanges, readPage } from './read-thread.ts'
import type { StoreRule } from './store-rule.ts'
import {
  append,
  at,
  begun,
  call,
  createThread,
  ended,
  turnEvent,
  recorded,
  settled,
  started,
  thread,
  user,
} from './thread-script.ts'

const deep = (levels: number): Json => (levels === 0 ? 'floor' : [{ down: deep(levels - 1) }])

/** Each has been lost, changed or mistaken for "none" by some database or some code. */
const oddValues: ReadonlyMap<string, Json> = new Map<string, Json>([
  ['an empty string', ''],
  ['0', 0],
  ['-0', -0],
  ['false', false],
  ['null', null],
  ['an empty array', []],
  ['an empty object', {}],
  ['the word null', 'null'],
  ['cut-off JSON as text', '{"a":'],
  ['1 MB of text', 'é'.repeat(524_288)],
  ['a text with a NUL', 'a\u0000b'],
  ['a text that ends in half a pair', 'a\ud83d'],
  ['a NUL', { 'a\u0000b': 'c\u0000' }],
  ['half a surrogate pair', ['\ud83d', '\ude00', { '\udc00': 1 }]],
  ['a __proto__ key', JSON.parse('{"__proto__": {"x": 1}, "constructor": null}') as Json],
  ['keys that look like numbers', { 2: 'b', 1: 'a', '01': 'c' }],
  ['big and small numbers', [2 ** 53 + 2, 1e308, -1.5e-300, 0.1 + 0.2]],
  ['separators and quotes', '\u2028\u2029\u0007"\\/<!--</script>'],
  ['deep nesting', deep(27)],
])

const outputIn = (message: Message | undefined): unknown => {
  assert.ok(message?.role === 'assistant')
  const [found] = [...callsOf(message)]
  assert.ok(found?.state === 'succeeded' && found.output.kind === 'inline')
  assert.equal(found.input.kind, 'complete')
  return [found.output.value, found.modelOutput, found.input]
}

/** Compared as JSON text, which has the order of keys and `__proto__`; its only zero is 0. */
const same = (actual: unknown, expected: unknown, name: string) =>
  assert.equal(JSON.stringify(actual), JSON.stringify(expected), name)

export const valueRules: readonly StoreRule[] = [
  {
    id: 'LG9',
    claim: 'keeps every value that a call can return or be given, open and snapshotted',
    async check({ open, reopen }) {
      let first = await open()
      for (const [name, value] of oddValues) {
        await createThread(first)
        const output = { kind: 'inline', value } as const
        await append(first, [
          started(),
          recorded(call, { input: value }),
          begun(),
          settled({ state: 'succeeded', output, modelOutput: value }),
        ])
        const expected = [value, value, { kind: 'complete', value }]
        same(outputIn((await readPage(first)).messages[0]), expected, `${name}, open`)
        const change = (await readChanges(first, 3)).changes[0]
        assert.ok(change?.kind === 'event' && change.event.type === 'call-settled')
        same(change.event.outcome, { state: 'succeeded', output, modelOutput: value }, name)

        await append(first, [ended()])
        const store = await reopen(first)
        same(outputIn((await readPage(store)).messages[0]), expected, `${name}, snapshotted`)
        same(outputIn((await store.readCall(thread, call))?.turn), expected, `${name}, by call`)
        const snapshotted = (await readChanges(store, 0)).changes[0]
        assert.ok(snapshotted?.kind === 'turn')
        same(outputIn(snapshotted.turn), expected, `${name}, as a change`)
        await store.deleteThread(thread)
        first = store
      }
    },
  },
  {
    id: 'LG9',
    claim:
      'keeps every value that a person enters as the result of a call, and null where there is none',
    async check({ open, reopen }) {
      let first = await open()
      for (const value of [...oddValues.values(), undefined]) {
        await createThread(first)
        const resolution = { kind: 'done', by: 'ana', at } as const
        const output = value === undefined ? undefined : ({ kind: 'inline', value } as const)
        const resolved = { type: 'call-resolved', callId: call, resolution } as const
        await append(first, [
          started(),
          recorded(),
          begun(),
          settled({ state: 'unknown', cause: 'crashed' }),
          turnEvent(output === undefined ? resolved : { ...resolved, output }),
        ])
        const expected = [value ?? null, undefined, { kind: 'complete', value: {} }]
        same(outputIn((await readPage(first)).messages[0]), expected, 'open')
        await append(first, [ended()])
        const store = await reopen(first)
        same(outputIn((await readPage(store)).messages[0]), expected, 'snapshotted')
        await store.deleteThread(thread)
        first = store
      }
    },
  },
  {
    id: 'CL6a',
    claim: 'refuses an event that is nested deeper than 64 levels, and stores nothing of it',
    async check({ open }) {
      const store = await open()
      await createThread(store)
      const item = { type: 'data', name: 'deep', data: deep(40) } as const
      await assert.rejects(append(store, [started(), turnEvent({ type: 'item-added', item })]), {
        code: 'bad-event',
      })
      assert.deepEqual((await readPage(store)).messages, [])
    },
  },
  {
    id: 'LG9',
    claim: 'keeps every text and every value of a message and of a turn',
    async check({ open, reopen }) {
      const texts = [...oddValues.values()].filter((value) => typeof value === 'string')
      const first = await open()
      await createThread(first)
      const parts = texts.map((text) => ({ type: 'text', text }) as const)
      const metadata = [...oddValues.values()]
      await append(first, [
        { type: 'message-added', messageId: user, role: 'user', parts, metadata, at },
        turnEvent({ type: 'turn-started', replyTo: user, metadata }),
        turnEvent({ type: 'text-started', block: '0', kind: 'reasoning' }),
        ...texts.map((delta) => turnEvent({ type: 'text-appended', block: '0', delta })),
        turnEvent({ type: 'item-added', item: { type: 'data', name: 'odd', data: metadata } }),
      ])
      const check = async (where: string) => {
        const { messages } = await readPage(first)
        const [reply, message] = messages
        assert.ok(reply?.role === 'assistant' && message?.role === 'user')
        same([message.parts, message.metadata], [parts, metadata], where)
        const [reasoning, item] = reply.steps[0]?.parts ?? []
        assert.ok(reasoning?.type === 'reasoning' && item?.type === 'data')
        same(
          [reply.metadata, reasoning.text, item.data],
          [metadata, texts.join(''), metadata],
          where,
        )
      }
      await check('open')
      await append(first, [ended()])
      await check('snapshotted')
      const read = async (store: typeof first) => JSON.stringify(await readPage(store))
      const before = await read(first)
      assert.equal(await read(await reopen(first)), before)
    },
  },
]
