import { tool } from 'ai'
import { createHoldfast, type HoldfastOptions, memory, type UserPart } from 'holdfast'
import {
  type PromptMessage,
  type ScriptedCall,
  scriptedModel,
  type ScriptPart,
} from 'holdfast/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { memoryFiles } from '../../src/files/memory-files.ts'
import type { FileStore } from '../../src/files/file-store.ts'

/** A file store that reports which files were read, and how many at the same time. */
function createMeteredFiles(own: Partial<FileStore> = {}) {
  const store = memoryFiles()
  const read: string[] = []
  let open = 0
  let most = 0
  const metered: FileStore = {
    ...store,
    async read(id, range) {
      read.push(id)
      most = Math.max(most, ++open)
      const content = await store.read(id, range)
      open--
      return content
    },
    ...own,
  }
  return { store: metered, read, mostAtOnce: () => most }
}

const fileBytes = 30_000
const maxBytesPerMessage = 100_000

function start(
  files: HoldfastOptions['files'],
  script: (call: ScriptedCall) => readonly ScriptPart[] = () => [{ text: 'Seen.' }],
  options: Partial<HoldfastOptions> = {},
) {
  const calls: ScriptedCall[] = []
  const holdfast = createHoldfast({
    model: scriptedModel(script, { onCall: (call) => calls.push(call) }),
    ...{ store: memory(), recoverEveryMs: 0, files: { maxBytesPerMessage, ...files } },
    ...options,
  })
  onTestFinished(() => holdfast.close())
  const create = { ownerId: 'ana' }
  let sent = 0
  /** Named by a letter, of which it consists. */
  const add = async (letter: string, bytes = fileBytes) => {
    const content = Buffer.alloc(bytes, letter)
    const filename = `${letter}.txt`
    const file = await holdfast.files.add({ ...create, content, mediaType: 'text/plain', filename })
    const { url, mediaType, id } = file
    return { id, part: { type: 'file' as const, url, mediaType, filename } }
  }
  const promptFor = async (...files: readonly UserPart[]) => {
    const parts = [{ type: 'text' as const, text: 'Look.' }, ...files]
    const message = { id: `m${++sent}`, parts }
    expect(await holdfast.send({ threadId: 't', message, create })).toMatchObject({
      kind: 'started',
    })
    await holdfast.settled()
    return shownIn(calls.at(-1)?.prompt ?? [])
  }
  const answer = async (...parts: readonly UserPart[]) =>
    holdfast.post('t', { role: 'assistant', parts }, { create })
  return { holdfast, calls, add, promptFor, answer }
}

/**
 * The letters of the files whose bytes a prompt has, and in brackets those that it has as words; answers do not know the names
 * of their files.
 */
const shownIn = (prompt: readonly PromptMessage[]): string =>
  prompt
    .flatMap(({ content }) => (typeof content === 'string' ? [] : (content as readonly Part[])))
    .map(({ type, text = '', data }) => {
      if (type === 'text') {
        const [, name] = /\[(.*) \(text\/plain\) could not be loaded\]/.exec(text) ?? []
        return name === undefined ? '' : `(${name.replace('.txt', '')})`
      }
      const bytes = data?.data
      if (bytes === undefined) return ''
      const content = typeof bytes === 'string' ? Buffer.from(bytes, 'base64') : Buffer.from(bytes)
      return content.toString('latin1', 0, 1)
    })
    .join('')
interface Part {
  readonly type: string
  readonly text?: string
  readonly data?: { readonly data?: string | Uint8Array }
}

describe('the files of a prompt', () => {
  it('[OP7 FL2] of an answer that names one again and again: it is loaded once in a run, and sent while it fits', async () => {
    const { store, read } = createMeteredFiles()
    const look = tool({ inputSchema: z.object({}), execute: () => 'nothing' })
    const script = ({ index }: ScriptedCall) =>
      index < 2 ? [{ call: 'look', input: {} }] : [{ text: 'Seen.' }]
    const { add, answer, promptFor, calls } = start({ store }, script, { tools: { look } })
    const { part } = await add('a')
    await answer(...Array.from({ length: 10 }, () => part))
    read.length = 0
    await promptFor()
    expect(calls.map(({ prompt }) => shownIn(prompt))).toEqual(
      Array.from({ length: 3 }, () => 'aaa(a file)'),
    )
    expect(read).toHaveLength(1)
  })

  it('[OP7 FL2] of an answer and of a person is loaded once for both', async () => {
    const { store, read } = createMeteredFiles()
    const { add, answer, promptFor } = start({ store })
    const { part } = await add('a')
    await answer(part)
    read.length = 0
    expect(await promptFor(part)).toBe('aa')
    expect(read).toHaveLength(1)
  })

  it('[OP7 ST3b] are the newest, of people and of answers, as far as they fit; the others are words', async () => {
    const { add, answer, promptFor } = start({ store: memoryFiles() })
    const [a, b, c, d, e] = await Promise.all(
      ['a', 'b', 'c', 'd', 'e'].map((letter) => add(letter)),
    )
    if (!a || !b || !c || !d || !e) throw new Error('not added')
    expect(await promptFor(a.part)).toBe('a')
    await answer(b.part)
    expect(await promptFor(c.part)).toBe('abc')
    expect(await promptFor(d.part)).toBe('(a)bcd')
    expect(await promptFor(e.part)).toBe('(a)(a file)cde')
  })

  it('[OP7] of a new message that has all it may have are sent, whatever was named before', async () => {
    const { add, answer, promptFor } = start({ store: memoryFiles() })
    const old = await add('o', 1_000)
    const large = await add('l', 40_000)
    const files = await Promise.all(['a', 'b', 'c'].map((letter) => add(letter, 33_000)))
    await promptFor(large.part, old.part)
    await answer(old.part, large.part)
    // The first of them is named again, which must not displace the others.
    const [first] = files
    if (first === undefined) throw new Error('not added')
    await promptFor(first.part)
    await answer(first.part)
    const sent = await promptFor(...files.map(({ part }) => part), first.part)
    expect(sent).toBe('(l)(o)o(a file)(a)(a file)(a)bca')
  })

  it('[OP7] of people are loaded a few at a time, and kept for the next step', async () => {
    const { store, read, mostAtOnce } = createMeteredFiles()
    const look = tool({ inputSchema: z.object({}), execute: () => 'nothing' })
    const script = ({ index }: ScriptedCall) =>
      index === 0 ? [{ call: 'look', input: {} }] : [{ text: 'Seen.' }]
    const { add, promptFor } = start({ store }, script, { tools: { look } })
    const files = await Promise.all(Array.from('abcdefghijkl').map((letter) => add(letter, 100)))
    read.length = 0
    expect(await promptFor(...files.map(({ part }) => part))).toBe('abcdefghijkl')
    expect(read.toSorted()).toEqual(files.map(({ id }) => id).toSorted())
    expect(mostAtOnce()).toBe(4)
  })

  it('[OP7 FL2] behind links are read from the file store where the model does not fetch them', async () => {
    let links = 0
    const { store, read } = createMeteredFiles({
      link: async (id) => `https://links.invalid/${id}?signature=${++links}`,
    })
    const { add, promptFor } = start({ store })
    const [a, b] = await Promise.all([add('a', 60_000), add('b', 60_000)])
    expect(await promptFor(a.part)).toBe('a')
    expect(await promptFor(b.part)).toBe('(a)b')
    expect(new Set(read)).toEqual(new Set([a.id, b.id]))
  })

  it('[FL2] that are gone are words, in an answer too', async () => {
    const files = memoryFiles()
    const { add, answer, promptFor } = start({ store: files })
    const { part, id } = await add('a')
    await answer({ type: 'text', text: 'Here.' }, part)
    await files.remove(id)
    expect(await promptFor()).toBe('(a file)')
  })

  it('[FL2 IN3] of a message that joins a turn are sent', async () => {
    const joined = Promise.withResolvers<void>()
    const look = tool({ inputSchema: z.object({}), execute: () => joined.promise.then(() => 1) })
    const script = ({ index }: ScriptedCall) =>
      index === 0 ? [{ call: 'look', input: {} }] : [{ text: 'Seen.' }]
    const { holdfast, add, calls } = start({ store: memoryFiles() }, script, { tools: { look } })
    const { part } = await add('a')
    const words = { type: 'text' as const, text: 'Look.' }
    const create = { ownerId: 'ana' }
    await holdfast.send({ threadId: 't', message: { id: 'm1', parts: [words] }, create })
    const message = { id: 'm2', parts: [words, part] }
    const sent = await holdfast.send({ threadId: 't', message, whenBusy: 'steer' })
    expect(sent.kind).toBe('steering')
    joined.resolve()
    await holdfast.settled()
    expect(calls.map(({ prompt }) => shownIn(prompt))).toEqual(['', 'a'])
  })
})
