import type { LanguageModel } from 'ai'
import { createHoldfast, memory } from 'holdfast'
import { createHandler, type Handler } from 'holdfast/server'
import { scriptedModel } from 'holdfast/testing'
import { expect, it, onTestFinished } from 'vitest'
import { createSseDecoder } from '../../src/protocol/sse.ts'
import { finish, type ProviderPart } from '../support/part-model.ts'

type Model = Extract<LanguageModel, { readonly specificationVersion: 'v4' }>

/** A turn that says what it is given, under two paths. */
async function start() {
  const { readable, writable } = new TransformStream<ProviderPart, ProviderPart>()
  const parts = writable.getWriter()
  const scripted = scriptedModel(() => []) as Model
  const model: Model = { ...scripted, doStream: async () => ({ stream: readable }) }
  const holdfast = createHoldfast({ store: memory(), model, textDelayMs: 0, recoverEveryMs: 0 })
  onTestFinished(() => holdfast.close())
  const handler = createHandler(holdfast, { localOnly: true })
  const elsewhere = createHandler(holdfast, { localOnly: true, basePath: '/elsewhere' })
  const message = { id: 'u', parts: [{ type: 'text', text: 'Count.' }] as const }
  await holdfast.send({ threadId: 't', message, create: { ownerId: 'local' } })
  void parts.write({ type: 'text-start', id: '1' })
  return {
    follow: (query = '') => follow(handler, `/api/chat/t/stream${query}`),
    followElsewhere: () => follow(elsewhere, '/elsewhere/api/chat/t/stream'),
    writeDelta: (delta: string) => void parts.write({ type: 'text-delta', id: '1', delta }),
    end: () => {
      void parts.write({ type: 'text-end', id: '1' })
      void parts.write(finish())
      void parts.close()
    },
  }
}

interface Follower {
  /** Reads to the piece that contains a text, and returns it. */
  until(text: string): Promise<Uint8Array>
  /** The text that it was sent. */
  said(): string
}

async function follow(handler: Handler, path: string): Promise<Follower> {
  const response = await handler(new Request(`http://localhost${path}`))
  expect(response.status).toBe(200)
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const decoder = createSseDecoder()
  let said = ''
  return {
    async until(text) {
      for (;;) {
        const { done, value } = await reader.read()
        if (done) throw new Error(`It ended before "${text}".`)
        const piece = new TextDecoder().decode(value)
        for (const item of decoder.push(piece)) {
          if (item.type === 'comment' || item.data === '[DONE]') continue
          said += (JSON.parse(item.data) as { readonly delta?: string }).delta ?? ''
        }
        if (piece.includes(text)) return value
      }
    },
    said: () => said,
  }
}

const read = (followers: readonly Follower[], text: string) =>
  Promise.all(followers.map((follower) => follower.until(text)))
const textsOf = (pieces: readonly Uint8Array[]) =>
  new Set(pieces.map((piece) => new TextDecoder().decode(piece)))

it('[OP7a] what is added to a turn is encoded once for all who follow it with the same vocabulary', async () => {
  const { follow: open, followElsewhere, writeDelta, end } = await start()
  const early = await Promise.all([open('?sdk=7'), open('?sdk=7'), open()])
  writeDelta('one ')
  await read(early, 'one')
  // What is added to the state that each has read for itself is its own.
  writeDelta('two ')
  await read(early, 'two')
  writeDelta('three ')
  const three = await read(early, 'three')
  expect(three[1]).toBe(three[0])
  expect(three[2]).not.toBe(three[0])
  expect(textsOf(three).size).toBe(1)

  const late = await Promise.all([open('?sdk=7'), followElsewhere()])
  await read(late, 'one two three')
  const all = [...early, ...late]
  writeDelta('four ')
  await read(all, 'four')
  writeDelta('five ')
  const five = await read(all, 'five')
  // The fifth has the vocabulary of the third, but the addresses of results would be others.
  expect(five.map((piece) => five.indexOf(piece))).toEqual([0, 0, 2, 0, 4])
  expect(textsOf(five).size).toBe(1)

  end()
  const ends = await read(all, '[DONE]')
  expect(ends).toHaveLength(5)
  for (const follower of all) expect(follower.said()).toBe('one two three four five ')
})
