import { tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { callsOf } from '../../core/message.ts'
import { memory } from '../../store/memory/memory-store.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { createHoldfast, type Holdfast } from '../create-holdfast.ts'

const remove = tool({ inputSchema: z.object({}), execute: () => 'removed' })
const parts = [{ type: 'text', text: 'Remove it' }] as const

/** A thread of ana's whose only call waits for approval. */
async function waiting() {
  const store = memory()
  const holdfast = createHoldfast({
    store,
    model: scriptedModel(({ index }) =>
      index === 0 ? [{ call: 'remove', input: {} }] : [{ text: 'Done.' }],
    ),
    tools: { remove },
    policies: { remove: { approval: 'always' } },
    recoverEveryMs: 0,
  })
  const create = { ownerId: 'ana', title: 'One' }
  const sent = await holdfast.send({ threadId: 't', message: { id: 'u', parts }, create })
  await holdfast.settled()
  if (sent.kind !== 'started') throw new Error(`not started: ${sent.kind}`)
  const found = await store.findTurn(sent.turnId)
  const [call] = found === null ? [] : callsOf(found.turn)
  if (call === undefined) throw new Error('There is no call.')
  return { holdfast, store, toolCallId: call.id, turnId: sent.turnId }
}

type Verb = (holdfast: Holdfast, toolCallId: string, turnId: string) => unknown
/** For calls as in plain JavaScript, without types. */
const loose = (verbs: object) =>
  verbs as unknown as Record<string, (...given: readonly unknown[]) => Promise<unknown>>

const deciding =
  (more: object, request: object = {}): Verb =>
  (holdfast, toolCallId) =>
    loose(holdfast)['decide']?.({
      threadId: 't',
      by: 'ana',
      decisions: [{ toolCallId, decision: 'accept', ...more }],
      ...request,
    })
const resolving =
  (more: object): Verb =>
  (holdfast, toolCallId) =>
    loose(holdfast)['resolve']?.({
      ...{ threadId: 't', toolCallId, resolution: 'skip', by: 'ana' },
      ...more,
    })
const sending =
  (more: object): Verb =>
  (holdfast) =>
    loose(holdfast)['send']?.({ threadId: 't', message: { id: 'u2', parts }, ...more })
const making =
  (more: object): Verb =>
  (holdfast) =>
    loose(holdfast)['regenerate']?.({ threadId: 't', ...more })
const adding =
  (more: object): Verb =>
  (holdfast, toolCallId) =>
    loose(holdfast)['addToolOutputs']?.('t', [{ toolCallId, output: 1, ...more }])

const owner = 'Did you mean "ownerId"?'
const refused: Readonly<Record<string, readonly [Verb, string]>> = {
  'decide approve': [deciding({ decision: 'approve' }), '"decision" is accept or reject.'],
  'decide true': [deciding({ decision: true }), '"decision" is accept or reject.'],
  'decide owner': [deciding({}, { owner: 'bob' }), `decide has no option "owner". ${owner}`],
  'decide comment': [deciding({ feedbak: 'no' }), 'Did you mean "feedback"?'],
  'decide feedback': [deciding({ decision: 'reject', feedback: 5 }), '"feedback" is a text.'],
  'decide one': [deciding({}, { decisions: { decision: 'accept' } }), '"decisions" is a list.'],
  'decide nothing': [(holdfast) => loose(holdfast)['decide']?.(), 'decide takes an object'],
  'decide a word': [deciding({}, { decisions: ['accept'] }), 'takes an object'],
  'decide by nobody': [deciding({}, { by: undefined }), '"by" must be a non-empty string'],
  'decide misspelt': [deciding({ toolCallID: 'x' }), 'Did you mean "toolCallId"?'],
  'resolve word': [resolving({ resolution: 'again' }), '"resolution" is retry, done or skip.'],
  'resolve owner': [resolving({ owner: 'bob' }), owner],
  'resolve by nobody': [resolving({ by: '' }), '"by" must be a non-empty string'],
  'send owner': [sending({ owner: 'bob' }), 'send has no option "owner".'],
  'send misspelt': [sending({ whenbusy: 'reject' }), 'Did you mean "whenBusy"?'],
  'send whenBusy': [
    sending({ whenBusy: 'wait' }),
    '"whenBusy" is queue, steer, interrupt or reject.',
  ],
  'send create': [sending({ create: { owner: 'ana', title: '' } }), owner],
  'send text': [sending({ message: { id: 'u2', text: 'Hi' } }), 'A message has "parts"'],
  'send words': [sending({ message: 'Hi' }), '"message" is a message with "parts".'],
  'send no message': [sending({ message: undefined }), '"message" is a message with "parts".'],
  'send part': [sending({ message: { id: 'u2', parts: ['Hi'] } }), 'A part of a message is'],
  'send nothing': [sending({ message: { id: 'u2', parts: [] } }), 'The message is empty'],
  'send no text': [
    sending({ message: { id: 'u2', parts: [{ type: 'text', txt: 'Hi' }] } }),
    'The message is empty',
  ],
  'send a number': [
    sending({ message: { id: 'u2', parts: [{ type: 'text', text: 5 }] } }),
    'The message is empty',
  ],
  'send an image': [
    sending({ message: { id: 'u2', parts: [{ type: 'image', image: 'data:,' }] } }),
    'The message is empty',
  ],
  'send a file': [
    sending({ message: { id: 'u2', parts: [{ type: 'file', data: 'data:,' }] } }),
    'A file part has "mediaType" and "url".',
  ],
  'send title': [sending({ create: { ownerId: 'ana', title: 5 } }), '"title" is a text.'],
  'send two owners': [
    sending({ threadId: 't2', ownerId: 'bob', create: { ownerId: 'ana' } }),
    'are not the same',
  ],
  'stop owner': [(holdfast) => loose(holdfast)['stop']?.('t', { owner: 'bob' }), owner],
  'continue owner': [(holdfast) => loose(holdfast)['continue']?.('t', { owner: 'bob' }), owner],
  'regenerate misspelt': [making({ messageID: 'u' }), 'Did you mean "messageId"?'],
  'regenerate whenBusy': [making({ whenBusy: 'queue' }), '"whenBusy" is interrupt or reject.'],
  'output misspelt': [adding({ outpt: 2 }), 'Did you mean "output"?'],
  'output missing': [
    (holdfast, toolCallId) => loose(holdfast)['addToolOutputs']?.('t', [{ toolCallId }]),
    'has "output" or "errorText"',
  ],
  'output error': [
    (holdfast, toolCallId) =>
      loose(holdfast)['addToolOutputs']?.('t', [{ toolCallId, errorText: 5 }]),
    '"errorText" is a text.',
  ],
  'outputs no list': [
    (holdfast, toolCallId) => loose(holdfast)['addToolOutputs']?.('t', { toolCallId, output: 1 }),
    'The outputs are a list.',
  ],
  'describeAgent owner': [
    (holdfast) => loose(holdfast)['describeAgent']?.({ owner: 'ana' }),
    owner,
  ],
  'export owner': [
    (holdfast) => holdfast.export({ owner: 'ana' } as never).next(),
    `export has no option "owner". ${owner}`,
  ],
  'post create': [
    (holdfast) =>
      holdfast.post('t2', { role: 'user', parts }, { create: { owner: 'ana' } } as never),
    owner,
  ],
  'post owner': [
    (holdfast) => holdfast.post('t', { role: 'user', parts }, { owner: 'bob' } as never),
    owner,
  ],
  'appendText misspelt': [
    (holdfast) => holdfast.toolCalls.appendText({ ...written, kid: 'text' } as never),
    'Did you mean "kind"?',
  ],
  'upsert misspelt': [
    (holdfast) =>
      loose(holdfast.toolCalls)['upsert']?.({
        ...{ threadId: 't', messageId: 'own', callId: 'c', name: 'n', arguments: {} },
        ...{ isPartial: false, isPartal: true },
      }),
    'Did you mean "isPartial"?',
  ],
}
const written = { threadId: 't', messageId: 'own', text: 'Hi' }

describe('the arguments of a method', () => {
  it.each(Object.keys(refused))(
    '[CF1] %s: is refused by name and nothing is stored',
    async (name) => {
      const [verb, words] = refused[name] ?? []
      const { holdfast, store, toolCallId, turnId } = await waiting()
      const before = await store.readThread('t')
      const fault = await Promise.resolve(verb?.(holdfast, toolCallId, turnId)).then(
        () => 'no error',
        (error: unknown) => error,
      )
      await holdfast.settled()
      expect(fault).toMatchObject({ code: 'bad-request' })
      expect(String(fault)).toContain(words)
      expect((await store.readThread('t'))?.seq).toBe(before?.seq)
      expect(await store.readThread('t2')).toBeNull()
      await holdfast.close()
    },
  )

  it('[CF1] the old names of calls are still accepted', async () => {
    const { holdfast, toolCallId: callId } = await waiting()
    const decisions = [{ callId, decision: 'reject', feedback: 'no' }] as const
    expect(await holdfast.decide({ threadId: 't', by: 'ana', ownerId: 'ana', decisions })).toEqual([
      { kind: 'rejected' },
    ])
    await holdfast.settled()
    const old = { threadId: 't', callId, resolution: 'skip', by: 'ana', ownerId: 'ana' } as const
    expect(await holdfast.resolve(old)).toMatchObject({ kind: 'not-unknown' })
    const outcome = { state: 'failed', cause: 'tool-error', error: 'no' } as const
    expect(await holdfast.addToolOutputs('t', [{ callId, outcome }])).toHaveLength(1)
    await holdfast.close()
  })

  it('[HT2] another owner’s thread does not exist for send, regenerate, continue and stop', async () => {
    const { holdfast, store } = await waiting()
    const before = await store.readThread('t')
    const bob = { ownerId: 'bob' }
    const message = { id: 'u2', parts }
    const none = { kind: 'no-thread' }
    expect(await holdfast.send({ threadId: 't', message, ...bob })).toEqual(none)
    expect(await holdfast.send({ threadId: 't', message, create: bob })).toEqual(none)
    expect(await holdfast.regenerate({ threadId: 't', ...bob })).toEqual(none)
    expect(await holdfast.continue('t', bob)).toEqual(none)
    expect(await holdfast.stop('t', bob)).toEqual(none)
    expect((await store.readThread('t'))?.seq).toBe(before?.seq)
    const ana = { ownerId: 'ana' }
    expect(await holdfast.continue('t', ana)).toEqual({ kind: 'nothing-to-continue' })
    expect(await holdfast.stop('t', ana)).toMatchObject({ kind: 'stopped' })
    expect(await holdfast.regenerate({ threadId: 't', ...ana })).toMatchObject({ kind: 'started' })
    await holdfast.settled()
    expect(await holdfast.send({ threadId: 't', message, ...ana })).toMatchObject({
      kind: 'started',
    })
    await holdfast.settled()
    await holdfast.close()
  })

  it('[FK3] a thread created without a title is named by the beginning of its message', async () => {
    const store = memory()
    const holdfast = createHoldfast({
      ...{ store, recoverEveryMs: 0 },
      model: scriptedModel(() => [{ text: 'Hello.' }]),
    })
    const text = `Where  is\n${'the post office '.repeat(10)}?`
    const create = { ownerId: 'ana' }
    const sent = await holdfast.send({
      ...{ threadId: 't', create },
      message: { parts: [{ type: 'text', text }] },
    })
    expect(sent.kind).toBe('started')
    await holdfast.settled()
    const thread = await holdfast.threads.get('t')
    expect(thread).toMatchObject({ titledBy: null })
    expect(thread?.title).toMatch(/^Where is the post office .{30,35}…$/)
    const page = await holdfast.messages('t', { order: 'oldest-first' })
    expect(page?.results.map(({ id, role }) => [id.slice(0, 4), role])).toEqual([
      ['msg_', 'user'],
      ['msg_', 'assistant'],
    ])
    await holdfast.close()
  })

  it('[CF1] without a model, a request for an answer is refused with what to do', async () => {
    const holdfast = createHoldfast({ store: memory(), recoverEveryMs: 0 })
    const create = { ownerId: 'ana' }
    const words = 'Pass it a `model` or an `agent`.'
    await expect(holdfast.send({ threadId: 't', message: { parts }, create })).rejects.toThrow(
      words,
    )
    await expect(holdfast.regenerate({ threadId: 't' })).rejects.toThrow(words)
    await expect(holdfast.continue('t')).rejects.toThrow(words)
    expect(await holdfast.threads.get('t')).toBeNull()
    await holdfast.close()
  })
})
