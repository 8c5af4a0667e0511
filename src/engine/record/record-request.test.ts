import { describe, expect, it } from 'vitest'
import { HoldfastError } from '../../core/holdfast-error.ts'
import { parseMessageId, parseOwnerId, parseThreadId } from '../../core/ids.ts'
import { memory } from '../../store/memory/memory-store.ts'
import { createHoldfast } from '../create-holdfast.ts'

const threadId = parseThreadId('t')
const message = { id: parseMessageId('u'), parts: [{ type: 'text', text: 'hi' }] } as const
const create = { ownerId: parseOwnerId('o'), title: '' }
const right = { threadId, message, create }

function open() {
  const store = memory()
  return { store, holdfast: createHoldfast({ store, recoverEveryMs: 0 }) }
}

/** A stream that records whether it was read or cancelled. */
function createSource() {
  const calls: string[] = []
  const source: AsyncIterableIterator<string> = {
    [Symbol.asyncIterator]: () => source,
    async next() {
      calls.push('read')
      return { done: true, value: undefined }
    },
    async return() {
      calls.push('closed')
      return { done: true, value: undefined }
    },
  }
  return { source, calls }
}

describe('the arguments of record', () => {
  it.each([
    [undefined, 'record takes an object of options, not undefined'],
    [[], 'record takes an object of options, not a list'],
    [{}, 'record needs the option "threadId"'],
    [{ threadId }, 'record needs the option "message"'],
    [{ ...right, threadId: '' }, 'the option "threadId" must be a string of 1 to 200 characters'],
    [{ ...right, threadId: 'a\u0000' }, 'the option "threadId" must be'],
    [{ ...right, threadId: 'x'.repeat(201) }, 'the option "threadId" must be'],
    [{ ...right, message: 'hi' }, 'must be a message with an id and a list of parts, not "hi"'],
    [{ ...right, message: { id: 'u', content: 'hi' } }, 'must be a message with an id and a list'],
    [{ ...right, message: { parts: [] } }, 'must be a message with an id and a list of parts'],
    [{ ...right, create: true }, 'the option "create" must be an object with the ownerId'],
    [{ ...right, create: { ownerId: 'o', title: 5 } }, 'the option "create" must be'],
    [{ ...right, replaces: 5 }, 'the option "replaces" must be a string'],
    [{ ...right, ownerId: '' }, 'the option "ownerId" must be'],
    [{ ...right, chatId: 't' }, 'Did you mean "threadId"?'],
    [{ ...right, by: 'ann' }, 'record has no option "by".'],
    [{ threadId, continue: null }, 'the option "continue" must be a string'],
    [{ threadId, continue: '' }, 'the option "continue" must be a string'],
    [{ threadId, continue: 'm', message: 'hi' }, 'must be the assistant’s message'],
    [{ threadId, continue: 'm', by: '' }, 'the option "by" must be a string that is not empty'],
    [{ threadId, continue: 'm', create }, 'record has no option "create".'],
    [{ threadId, continue: 'm', ownerId: '' }, 'the option "ownerId" must be'],
  ])('[CF1] [CL12] %j is refused, stores nothing and closes the source', async (request, words) => {
    const { holdfast, store } = open()
    const { source, calls } = createSource()
    const refused = holdfast.record(source, request as never)
    await expect(refused).rejects.toThrow(words)
    await expect(refused).rejects.toMatchObject({ code: 'bad-option' })
    expect(calls).toEqual(['closed'])
    expect(await store.readThread(threadId)).toBeNull()
    await holdfast.close()
  })

  it.each([
    ['bad-request', { ...right, message: { id: 'u2', parts: [{ type: 'text', text: ' ' }] } }],
    ['conflict', { ...right, message: { ...message, parts: [{ type: 'text', text: 'other' }] } }],
  ])('[CF1] [CL12] what is refused as %s closes the source', async (code, request) => {
    const { holdfast } = open()
    await holdfast.record(createSource().source, right)
    await holdfast.settled()
    const { source, calls } = createSource()
    await expect(holdfast.record(source, request as never)).rejects.toMatchObject({ code })
    expect(calls).toEqual(['closed'])
    await holdfast.close()
  })

  it('[CL12] a source that throws when it is closed changes no result', async () => {
    const { holdfast } = open()
    await holdfast.record(createSource().source, right)
    await holdfast.settled()
    const { source } = createSource()
    source.return = () => {
      throw new Error('closed twice')
    }
    expect(await holdfast.record(source, right)).toMatchObject({ kind: 'repeated' })
    await holdfast.close()
  })

  it.each([undefined, null, 'text', ['a'], Promise.resolve(), new Response('x')])(
    '[CF1] [CL12] a source that is none is refused: %s',
    async (source) => {
      const { holdfast, store } = open()
      const refused = holdfast.record(source as never, right)
      await expect(refused).rejects.toThrow(HoldfastError)
      await expect(refused).rejects.toThrow('record takes a stream')
      expect(await store.readThread(threadId)).toBeNull()
      await holdfast.close()
    },
  )

  it('[CF1] [CL12] undefined counts as absent, and a message may have more fields', async () => {
    const { holdfast } = open()
    const more = { ...message, role: 'user', createdAt: 5 }
    const request = { ...right, message: more, continue: undefined, replaces: undefined }
    const { source } = createSource()
    const recording = await holdfast.record(source, request as never)
    expect(recording.kind).toBe('recording')
    await holdfast.settled()
    await holdfast.close()
  })

  it.each([
    [{ sdk: 4 }, 'toResponse: the option "sdk" must be 5, 6 or 7, not 4'],
    [{ keepAliveMs: 0 }, '"keepAliveMs" must be a whole number of milliseconds from 1'],
    [{ headers: [] }, '"headers" must be an object of headers, not a list'],
    [{ header: {} }, 'Did you mean "headers"?'],
  ])('[CF1] [CL12] its response says what is wrong with %j', async (options, words) => {
    const { holdfast } = open()
    const recording = await holdfast.record(createSource().source, right)
    expect(() => recording.toResponse(options as never)).toThrow(words)
    await holdfast.settled()
    await holdfast.close()
  })
})
