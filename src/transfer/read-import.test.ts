import { describe, expect, it } from 'vitest'
import type { ImportItem } from './import-item.ts'
import { mostImported } from '../import/message-width.ts'
import { readImport } from './read-import.ts'

const message = { role: 'user', content: 'Say "[{\\" – ünïcödé 🙂' }
const other = { role: 'assistant', content: '', parts: [[], {}, 1.5, null, true, 'x'] }

const documents = {
  envelope: JSON.stringify({ version: 1, threads: [{ id: 'a', messages: [message, other] }] }),
  pretty: JSON.stringify({ threads: [{ id: 'a', messages: [message, other] }] }, null, 2),
  'list of messages': JSON.stringify([message, other]),
  lines: [message, other].map((value) => JSON.stringify({ threadId: 'a', ...value })).join('\r\n'),
}

async function read(text: string, size: number): Promise<readonly ImportItem[]> {
  const bytes = new TextEncoder().encode(text)
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
  }
  return Array.fromAsync(readImport(pieces()))
}

describe('reading what is imported', () => {
  it.each(Object.entries(documents))(
    '[LE5] gives the same in pieces of any size: %s',
    async (_, text) => {
      const whole = await read(text, text.length * 4)
      const values = whole.flatMap((item) => (item.kind === 'message' ? [item.value] : []))
      expect(values).toMatchObject([message, other])
      for (const size of [1, 2, 3, 7, 64]) expect(await read(text, size)).toEqual(whole)
    },
  )

  it('[LE5 LE7] names what is not UTF-8, in whichever piece, and takes the rest: nothing gets other letters', async () => {
    const own = { role: 'user', content: 'ünïcödé, 日本語 🙂' }
    const texts = [own, { role: 'user', content: 'caf~' }, own].map((each) => JSON.stringify(each))
    const forms = {
      lines: [texts.join('\n'), 'line 2'],
      list: [`[${texts.join(',')}]`, 'messages[1]'],
    } as const
    for (const [text, place] of Object.values(forms)) {
      // As in Latin-1.
      const bytes = Buffer.from(text)
      bytes[bytes.indexOf('~')] = 0xe9
      for (const size of [1, 2, 3, 7, bytes.length]) {
        const pieces = async function* () {
          for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
        }
        const items = await Array.fromAsync(readImport(pieces()))
        const found = items.filter(({ kind }) => kind !== 'thread')
        expect(found).toMatchObject([
          { value: own },
          { kind: 'unreadable', where: place, why: 'It is not UTF-8.' },
          { value: own },
        ])
      }
    }
  })

  it('[LE5] takes a replacement character that is in the text itself', async () => {
    const own = { role: 'user', content: 'a \ufffd\ufffd of its own' }
    for (const size of [1, 2, 3, 5, 1_000]) {
      expect(await read(JSON.stringify([own]), size)).toMatchObject([{}, { value: own }])
    }
  })

  it('[LE5] separates a value that is not JSON from the values around it', async () => {
    const items = await read('{"id":"a","messages":[{"x":1},{"x":01},tru,{"x":2}]}', 5)
    expect(items.filter(({ kind }) => kind !== 'thread')).toEqual([
      { kind: 'message', key: 'thread', where: 'messages[0]', value: { x: 1 } },
      { kind: 'unreadable', where: 'messages[1]', why: 'It is not JSON.' },
      { kind: 'unreadable', where: 'messages[2]', why: 'It is not JSON.' },
      { kind: 'message', key: 'thread', where: 'messages[3]', value: { x: 2 } },
    ])
  })

  it('[LE5] reads `__proto__` as the name of a field', async () => {
    const items = await read('[{"role":"user","__proto__":{"polluted":true}}]', 9)
    const [found] = items.flatMap((item) => (item.kind === 'message' ? [item.value] : []))
    expect(Object.keys(found as object)).toEqual(['role', '__proto__'])
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })

  it.each([
    { role: 'user', content: 'Hi' },
    { entity: 'USER', content: 'Hi' },
  ])('[LE5] takes one message for a thread: JSONL may have one line, %j', async (one) => {
    const items = await read(`${JSON.stringify(one)}\n`, 100)
    expect(items.filter(({ kind }) => kind === 'message')).toEqual([
      { kind: 'message', key: 'thread', where: 'messages[0]', value: one },
    ])
  })

  it.each(['threadId', 'thread_id', 'chatId', 'conversation_id'])(
    '[LE1] keeps messages of several threads apart by their %s',
    async (name) => {
      const rows = ['a', 'b', 'a'].map((id) => ({ [name]: id, ...message }))
      const keys = (items: readonly ImportItem[]) =>
        items.flatMap((item) => (item.kind === 'message' ? [item.key] : []))
      expect(keys(await read(JSON.stringify(rows), 50))).toEqual(['id:a', 'id:b', 'id:a'])
      const lines = rows.map((row) => JSON.stringify(row)).join('\n')
      expect(keys(await read(lines, 50))).toEqual(['id:a', 'id:b', 'id:a'])
    },
  )

  it('[LE5] skips a byte order mark', async () => {
    async function* text() {
      yield '\ufeff'
      yield JSON.stringify([message])
    }
    const bytes = await read(`\ufeff${JSON.stringify([message])}`, 2)
    expect(await Array.fromAsync(readImport(text()))).toEqual(bytes)
    expect(bytes).toMatchObject([{ kind: 'thread' }, { kind: 'message', value: message }])
  })

  it('[LE5] reports after what a document breaks off', async () => {
    const items = await read('{"threads":[{"id":"a","messages":[{"x":1} {"x":2}]}]}', 11)
    expect(items.at(-1)).toEqual({
      kind: 'unreadable',
      where: 'after threads[0].messages[0]',
      why: 'Not JSON: "]" is missing (line 1).',
    })
  })
})

describe('a message that is longer than the limit', () => {
  const long = { id: 'long', role: 'user', content: 'x'.repeat(5_000) }
  const short = { id: 'short', role: 'user', content: 'Hello.' }
  const forms = {
    'one thread': JSON.stringify({ id: 't', messages: [long, short] }),
    'a list of threads': JSON.stringify({ threads: [{ id: 't', messages: [long, short] }] }),
    'a list of messages': JSON.stringify([long, short]),
    'a page': JSON.stringify({ results: [long, short] }),
    lines: [long, short].map((each) => JSON.stringify(each)).join('\n'),
    'documents one after the other': [short, long, short]
      .map((each) => JSON.stringify(each, null, 1))
      .join('\n'),
  }
  it.each(Object.entries(forms))('[OP7 LE5] in %s costs only itself', async (_, text) => {
    for (const size of [7, 1_000, 100_000]) {
      const pieces = async function* () {
        for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size)
      }
      const items = await Array.fromAsync(readImport(pieces(), { messageChars: 1_000 }))
      const unreadable = items.filter(({ kind }) => kind === 'unreadable')
      expect(unreadable).toMatchObject([
        { why: expect.stringContaining('1000 characters') as string },
      ])
      const read = items.flatMap((item) => (item.kind === 'message' ? [item.value] : []))
      expect(read.length).toBeGreaterThan(0)
      for (const value of read) expect(value).toEqual(short)
    }
  })
})

describe('a message with many different keys', () => {
  const result = (name: string, keys: number) =>
    Object.fromEntries(Array.from({ length: keys }, (_, nth) => [`${name}${nth}`, 1]))
  const answer = (outputs: readonly object[]) => ({
    role: 'assistant',
    parts: outputs.map((output, nth) => ({
      ...{ type: 'tool-look', toolCallId: `c${nth}`, state: 'output-available' },
      ...{ input: {}, output },
    })),
  })
  const readOver = async (text: string) => {
    async function* pieces() {
      for (let at = 0; at < text.length; at += 65_536) yield text.slice(at, at + 65_536)
    }
    const items = await Array.fromAsync(readImport(pieces(), { messageChars: 8_388_608 }))
    return items.map(({ kind }) => kind).filter((kind) => kind !== 'thread')
  }
  const forms: Readonly<Record<string, (message: object) => string>> = {
    'one thread': (message) => JSON.stringify({ id: 't', messages: [message] }),
    lines: (message) => [message, message].map((each) => JSON.stringify(each)).join('\n'),
  }

  it.each(Object.entries(forms))(
    '[OP7 LE5] is read if each of its results could be stored: %s',
    async (_, toText) => {
      const stored = answer(['a', 'b', 'c'].map((name) => result(name, 20_000)))
      expect(new Set(await readOver(toText(stored)))).toEqual(new Set(['message']))
      const inParts = answer([{ x: result('a', 20_000), y: result('b', 31_000) }])
      expect(new Set(await readOver(toText(inParts)))).toEqual(new Set(['unreadable']))
      const inOne = answer([result('a', mostImported.keys + 1)])
      expect(new Set(await readOver(toText(inOne)))).toEqual(new Set(['unreadable']))
    },
  )
})
