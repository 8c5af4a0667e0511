import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { memoryFiles } from '../../files/memory-files.ts'
import { memory } from '../../store/memory/memory-store.ts'
import { createHoldfast } from '../create-holdfast.ts'

const words = 'Hello, file.'
const bytes = new TextEncoder().encode(words)
const open = () =>
  createHoldfast({ store: memory(), files: { store: memoryFiles() }, recoverEveryMs: 0 })

it.each<[string, () => unknown]>([
  ['a Uint8Array', () => bytes],
  ['a Buffer', () => Buffer.from(words)],
  ['a Blob', () => new Blob([words])],
  ['a File', () => new File([words], 'hello.txt')],
  ['a ReadableStream', () => new Blob([words]).stream()],
  ['a stream of Node', () => Readable.from([Buffer.from(words)])],
])('[FL1] keeps %s and says its address', async (_, content) => {
  const holdfast = open()
  const file = await holdfast.files.add({
    ...{ ownerId: 'ana', mediaType: 'text/plain' },
    content: content() as Uint8Array,
  })
  expect(file).toMatchObject({ bytes: bytes.byteLength, url: `/api/files/${file.id}` })
  const pieces: Uint8Array[] = []
  for await (const piece of (await holdfast.files.read(file.id)) ?? []) pieces.push(piece)
  expect(Buffer.concat(pieces).toString()).toBe(words)
  expect(await holdfast.files.get(file.id)).not.toHaveProperty('url')
  await holdfast.close()
})

it.each<[unknown, string]>([
  [undefined, '"content" is a Uint8Array, a Blob'],
  ['text', '"content" is a Uint8Array, a Blob'],
  [{ data: 'x' }, '"content" is a Uint8Array, a Blob'],
  [Readable.from(['text']), 'The pieces of "content" are Uint8Array.'],
])('[FL1] %s is no content', async (content, message) => {
  const holdfast = open()
  const added = holdfast.files.add({ ownerId: 'ana', content: content as Uint8Array })
  await expect(added).rejects.toMatchObject({ code: 'bad-request' })
  await expect(added).rejects.toThrow(message)
  await holdfast.close()
})

it('[FL1] refuses what is known to be too large before it is read', async () => {
  const store = memory()
  const holdfast = createHoldfast({
    ...{ store, recoverEveryMs: 0 },
    files: { store: memoryFiles(), maxBytes: 5 },
  })
  const content = new Blob([words])
  content.stream = () => {
    throw new Error('It was read.')
  }
  await expect(holdfast.files.add({ ownerId: 'ana', content })).rejects.toMatchObject({
    code: 'file-too-large',
  })
  await holdfast.close()
})

it.each([
  [5, '5 bytes'],
  [2_000, '2,000 bytes'],
  [25 * 1024 * 1024, '25 MiB'],
  [1_600_000, '1.5 MiB'],
])('[FL1] says the limit of %d bytes as people read it', async (maxBytes, size) => {
  const files = { store: memoryFiles(), maxBytes }
  const holdfast = createHoldfast({ store: memory(), recoverEveryMs: 0, files })
  const content = new Blob([new Uint8Array(maxBytes + 1)])
  const added = holdfast.files.add({ ownerId: 'ana', content })
  await expect(added).rejects.toThrow(`It is larger than ${size}.`)
  await holdfast.close()
})
