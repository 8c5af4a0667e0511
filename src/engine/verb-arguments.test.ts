import { tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { callsOf } from '../core/message.ts'
import { memory } from '../store/memory/memory-store.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createHoldfast, type Holdfast } from './create-holdfast.ts'

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
/** What somebody writes without types. */
const loose = (holdfast: Holdfast) =>
  holdfast as unknown as Record<string, (...given: readonly unknown[]) => Promise<unknown>>

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
  'decide by nobody': [deciding({}, { by: undefined }), '"by" says who it is'],
  'decide misspelt': [deciding({ toolCallID: 'x' }), 'Did you mean "toolCallId"?'],
  'resolve word': [resolving({ resolution: 'again' }), '"resolution" is retry, done or skip.'],
  'resolve owner': [resolving({ owner: 'bob' }), owner],
  'resolve by nobody': [resolving({ by: '' }), '"by" says who it is'],
  'send owner': [sending({ owner: 'bob' }), 'send has no option "owner".'],
  'send misspelt': [sending({ whenbusy: 'reject' }), 'Did you mean "whenBusy"?'],
  'send whenBusy': [
    sending({ whenBusy: 'wait' }),
    '"whenBusy" is queue, steer, interrupt or reject.',
  ],
  'send create': [sending({ create: { owner: 'ana', title: '' } }), owner],
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
      holdfast.toolCalls.upsert({
        ...{ threadId: 't', messageId: 'own', callId: 'c', name: 'n', arguments: {} },
        ...{ isPartial: false, isPartal: true },
      } as never),
    'Did you mean "isPartial"?',
  ],
}
const written = { threadId: 't', messageId: 'own', text: 'Hi' }

describe('what a verb is given', () => {
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

  it('[CF1] the old names of calls are taken as before', async () => {
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
})
