import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type DatabaseKind, databases, type RawDatabase } from './databases.ts'
import { temporaryFolder } from './run-holdfast.ts'
import { runInProcess } from './run-in-process.ts'

const kinds = Object.keys(databases) as readonly DatabaseKind[]

const question = {
  id: 'u1',
  role: 'user',
  content: 'Weather in Oslo?',
  createdAt: '2024-01-02T03:04:05.000Z',
}
const invocation = (state: string, more: object) => ({
  type: 'tool-invocation',
  toolInvocation: {
    state,
    toolCallId: 'call_0',
    toolName: 'weather',
    args: { city: 'Oslo' },
    ...more,
  },
})
const answer = {
  id: 'a1',
  role: 'assistant',
  content: 'It is cold.',
  createdAt: '2024-01-02T03:04:06.000Z',
  parts: [invocation('result', { result: { degrees: -3 } }), { type: 'text', text: 'It is cold.' }],
}
const thread = { id: 'old', title: 'Weather', createdAt: '2024-01-02T03:04:05.000Z' }
const envelope = JSON.stringify({ threads: [{ ...thread, messages: [question, answer] }] })

const importFile = (file: string, { place }: RawDatabase, ...more: readonly string[]) =>
  runInProcess(['import', file, '--db', place, ...more])

const exportAll = async ({ place }: RawDatabase, format = 'ui') =>
  (await runInProcess(['export', '--all', '--db', place, '--format', format])).out

const readShown = async (database: RawDatabase) => {
  const { threads } = JSON.parse(await exportAll(database, 'chat')) as {
    readonly threads: readonly {
      readonly id: string
      readonly title: string
      readonly messages: readonly { readonly id: string; readonly content: string }[]
    }[]
  }
  return threads.map(({ id, title, messages }) => ({
    id,
    title,
    messages: messages.map((message) => message.content),
  }))
}

describe.each(kinds)('holdfast import on %s', (kind) => {
  it('[LE5] says what it read, and changes nothing the second time', async () => {
    const database = await databases[kind]()
    const folder = temporaryFolder({ 'threads.json': envelope })
    const file = join(folder, 'threads.json')
    expect(await importFile(file, database)).toEqual({
      code: 0,
      out: 'Read 1 thread, 2 messages, 1 call; 0 messages were here already; 0 mended; 0 failed.\nCalls: 1 succeeded.\n',
      err: '',
    })
    const before = await exportAll(database)
    expect(await importFile(file, database)).toMatchObject({
      code: 0,
      out: 'Read 1 thread, 2 messages, 1 call; 2 messages were here already; 0 mended; 0 failed.\nCalls: 1 succeeded.\n',
    })
    expect(await exportAll(database)).toBe(before)
    expect((await runInProcess(['check', '--db', database.place])).out).toMatch(/^Healthy/)
  })

  it.each(['ui', 'vercel', 'entities', 'chat'])(
    '[LE1 LE5] reads what `export --format %s` writes, and shows the same',
    async (format) => {
      const [first, second] = [await databases[kind](), await databases[kind]()]
      const folder = temporaryFolder({ 'threads.json': envelope })
      await importFile(join(folder, 'threads.json'), first)
      const written = await exportAll(first, format)
      const { code } = await runInProcess(['import', '-', '--db', second.place], written)
      expect(code).toBe(0)
      expect(await exportAll(second, format)).toBe(written)
    },
  )

  it('[LE5] keeps one provider id in two turns, and adds what is new to a thread that is there', async () => {
    const database = await databases[kind]()
    const again = { ...answer, id: 'a2', createdAt: undefined }
    const more = { id: 'u2', role: 'user', content: 'And now?' }
    const whole = { threads: [{ ...thread, messages: [question, answer, more, again] }] }
    const folder = temporaryFolder({ 'part.json': envelope, 'whole.json': JSON.stringify(whole) })
    await importFile(join(folder, 'part.json'), database)
    const { out } = await importFile(join(folder, 'whole.json'), database)
    expect(out).toContain('The call id "call_0" is in use')
    expect(out).toContain('Read 1 thread, 4 messages, 2 calls; 2 messages were here already')
    expect(await readShown(database)).toEqual([
      {
        id: 'old',
        title: 'Weather',
        messages: ['Weather in Oslo?', 'It is cold.', 'And now?', 'It is cold.'],
      },
    ])
    const repeated = await importFile(join(folder, 'whole.json'), database)
    expect(repeated.out).toContain('4 messages were here already')
  })

  it('[LE5] derives an id where a turn of another thread has it', async () => {
    const database = await databases[kind]()
    const copy = { ...thread, id: 'copy', messages: [question, answer] }
    const folder = temporaryFolder({
      'threads.json': JSON.stringify({
        threads: [{ ...thread, messages: [question, answer] }, copy],
      }),
    })
    const { out } = await importFile(join(folder, 'threads.json'), database)
    expect(out).toContain('threads[1].messages[1]: The message id "a1" was not kept')
    const before = await exportAll(database)
    await importFile(join(folder, 'threads.json'), database)
    expect(await exportAll(database)).toBe(before)
  })
})

describe('holdfast import', () => {
  it('[LE4 LE5] names the place of all that it mended and could not read', async () => {
    const database = await databases.sqlite()
    const open = { id: 'a9', role: 'assistant', content: '', parts: [invocation('call', {})] }
    const folder = temporaryFolder({
      'threads.json': JSON.stringify({
        threads: [{ ...thread, messages: [question, open, { role: 'robot' }, 5] }, 'no'],
      }),
    })
    const { code, out } = await importFile(join(folder, 'threads.json'), database)
    expect(code).toBe(1)
    expect(out.split('\n')).toEqual([
      'mended threads[0].messages[1]: The call of weather was left open: it is interrupted.',
      'failed threads[0].messages[2]: Its role "robot" is not known.',
      'failed threads[0].messages[3]: It is not an object.',
      'failed threads[1]: It is not an object.',
      'Read 1 thread, 2 messages, 1 call; 0 messages were here already; 1 mended; 3 failed.',
      'Calls: 1 interrupted (never finished).',
      '',
    ])
  })

  const list = JSON.stringify([question, answer])
  const lines = [
    { threadId: 'one', ...question },
    { threadId: 'two', ...question, content: 'Hello?' },
    { threadId: 'one', ...answer },
  ]
  it.each([
    ['a bare list of messages', list, ['Weather in Oslo?', 'It is cold.']],
    ['a list of threads', `[{"messages":${list}}]`, ['Weather in Oslo?', 'It is cold.']],
    ['a list of lists', `[${list}]`, ['Weather in Oslo?', 'It is cold.']],
    ['one thread', `{"messages":${list},"id":"late"}`, ['Weather in Oslo?', 'It is cold.']],
    [
      'JSONL of threads',
      `{"id":"x","messages":${list}}\n{"id":"y","messages":[]}\n`,
      ['Weather in Oslo?', 'It is cold.'],
    ],
    [
      'JSONL of messages',
      lines.map((line) => JSON.stringify(line)).join('\n'),
      ['Weather in Oslo?', 'It is cold.'],
    ],
  ])('[LE5] reads %s, twice as once', async (_, text, shown) => {
    const database = await databases.sqlite()
    const folder = temporaryFolder({ 'old.data': text })
    const file = join(folder, 'old.data')
    expect(await importFile(file, database)).toMatchObject({ code: 0 })
    const [first] = await readShown(database)
    expect(first?.messages).toEqual(shown)
    const before = await exportAll(database)
    await importFile(file, database)
    expect(await exportAll(database)).toBe(before)
  })

  it('[LE5] passes over a line that is broken, and says which', async () => {
    const database = await databases.sqlite()
    const [first, second, third] = lines.map((line) => JSON.stringify(line))
    const broken = [first?.slice(0, -9), second, '', third, 'null'].join('\n')
    const { code, out } = await runInProcess(['import', '-', '--db', database.place], broken)
    expect(code).toBe(1)
    expect(out).toContain('failed line 1: It is not JSON.')
    expect(out).toContain('failed line 5: It is neither an object nor a list.')
    expect(out).toContain('Read 2 threads, 2 messages, 1 call')
  })

  it('[LE5] keeps what stands before the end of a file that was cut off', async () => {
    const database = await databases.sqlite()
    const { code, out } = await runInProcess(
      ['import', '-', '--db', database.place],
      envelope.slice(0, envelope.indexOf('{"id":"a1"') + 40),
    )
    expect(code).toBe(1)
    expect(out).toContain(
      'failed after threads[0].messages[0]: Not JSON: the file ends in the middle',
    )
    expect(await readShown(database)).toEqual([
      { id: 'old', title: 'Weather', messages: ['Weather in Oslo?'] },
    ])
  })

  it.each([
    ['', 'There is nothing in it.'],
    ['hello', 'This is neither a JSON object nor a list.'],
    ['{"a": 1}', 'There are neither "threads" nor "messages" in it.'],
    ['{"threads": [', 'This is not JSON'],
  ])('[LE5] does nothing with what cannot be read at all: %j', async (input, why) => {
    const database = await databases.sqlite()
    const { code, err } = await runInProcess(['import', '-', '--db', database.place], input)
    expect(code).toBe(2)
    expect(err).toContain(why)
  })

  it('[LE5] cuts a long thread between turns, and is repeatable all the same', async () => {
    const database = await databases.sqlite()
    const messages = Array.from({ length: 1_300 }, (_, index) => [
      { role: 'user', content: `Question ${index}` },
      {
        role: 'assistant',
        content: `Answer ${index}`,
        parts: [invocation('result', { result: index }), { type: 'text', text: `Answer ${index}` }],
      },
    ]).flat()
    const folder = temporaryFolder({ 'long.json': JSON.stringify({ ...thread, messages }) })
    const file = join(folder, 'long.json')
    const { out } = await importFile(file, database)
    expect(out).toContain(
      'Read 1 thread, 2,600 messages, 1,300 calls; 0 messages were here already',
    )
    const [shown] = await readShown(database)
    expect(shown?.messages).toEqual(messages.map(({ content }) => content))
    const again = await importFile(file, database)
    expect(again.out).toContain('2,600 messages were here already')
    expect((await runInProcess(['check', '--db', database.place])).out).toMatch(
      /^Healthy: 1 thread, 2,601 rows/,
    )
  })

  it('[LE5] gives threads to the owner that is named, and derives the id of a thread that is another’s', async () => {
    const database = await databases.sqlite()
    const folder = temporaryFolder({ 'threads.json': envelope })
    const file = join(folder, 'threads.json')
    await importFile(file, database, '--owner', 'ana')
    await importFile(file, database, '--owner', 'bo')
    const exported = JSON.parse(await exportAll(database)) as {
      readonly threads: readonly { readonly id: string; readonly owner: string }[]
    }
    expect(exported.threads.map(({ owner }) => owner)).toEqual(['ana', 'bo'])
    expect(exported.threads[0]?.id).toBe('old')
    expect(exported.threads[1]?.id).toMatch(/^thr_/)
    const ofAna = await runInProcess(['export', '--all', '--owner', 'ana', '--db', database.place])
    expect(JSON.parse(ofAna.out)).toMatchObject({ threads: [{ owner: 'ana' }] })
  })

  it('writes JSON that is a file of its own, one thread or all', async () => {
    const database = await databases.sqlite()
    const folder = temporaryFolder({ 'threads.json': envelope })
    await importFile(join(folder, 'threads.json'), database)
    const { out } = await runInProcess([
      'export',
      'old',
      '--db',
      database.place,
      '--format',
      'vercel',
    ])
    expect(JSON.parse(out)).toMatchObject({
      threads: [{ id: 'old', messages: [{ id: 'u1' }, { id: 'a1' }] }],
    })
    expect(readFileSync(join(folder, 'threads.json'), 'utf8')).toBe(envelope)
    const none = await runInProcess(['export', 'none', '--db', database.place])
    expect(none).toMatchObject({ code: 2, out: '' })
    expect(none.err).toContain('There is no thread none.')
  })
})
