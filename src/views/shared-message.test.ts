import { expect, it } from 'vitest'
import type { Call } from '../core/call.ts'
import { parseCallId, parseMessageId } from '../core/ids.ts'
import type { Part, Turn, UserMessage } from '../core/message.ts'
import { toSharedMessage } from './shared-message.ts'

const secret = 'not for everybody'
const meta = { provider: { secret } }
const call: Call = {
  type: 'call',
  id: parseCallId('call-1'),
  providerCallId: secret,
  name: 'look_up',
  step: 0,
  title: 'Look up',
  input: { kind: 'complete', value: { city: 'Paris' } },
  proposedInput: secret,
  approval: 'required',
  approvalRequest: { id: secret, signature: secret },
  decision: { kind: 'accepted', by: secret, at: 1, inputHash: secret, feedback: 'go on' },
  resolution: { kind: 'done', by: secret, at: 2 },
  providerMetadata: meta,
  toolMetadata: meta,
  resultProviderMetadata: meta,
  createdAt: 1,
  startedAt: 2,
  endedAt: 3,
  state: 'succeeded',
  output: { kind: 'inline', value: 'sunny' },
  modelOutput: secret,
}
const failed: Call = {
  ...{ type: 'call', id: parseCallId('call-2'), providerCallId: '', name: 'look_up', step: 0 },
  ...{ input: { kind: 'partial', text: '{"ci' }, approval: 'not-required', createdAt: 1 },
  ...{ state: 'failed', cause: 'tool-error', error: 'It broke.', modelError: secret, endedAt: 4 },
}
const parts: readonly Part[] = [
  { type: 'text', block: '0', text: 'Hello', state: 'done', providerMetadata: meta },
  { type: 'reasoning', block: '1', text: 'Hm', state: 'done', providerMetadata: meta },
  { type: 'source-url', sourceId: 's', url: 'https://a.example', providerMetadata: meta },
  { type: 'steering', id: parseMessageId('m'), parts: [], at: 1, metadata: secret },
  { type: 'data', name: 'chart', data: [1] },
  call,
  failed,
]
const turn: Turn = {
  role: 'assistant',
  id: parseMessageId('turn-1'),
  seq: 40,
  lastSeq: 90,
  replyTo: parseMessageId('user-1'),
  metadata: secret,
  choices: secret,
  trace: secret,
  recorded: true,
  versions: [{ id: parseMessageId(secret), seq: 3 }],
  feedback: [{ by: secret, rating: 'down', comment: secret, at: 1 }],
  takeovers: { count: 1, furthest: 2 },
  createdAt: 5,
  progress: { status: 'ended', ending: { kind: 'completed' }, endedAt: 6 },
  unreadable: 0,
  steps: [
    {
      ...{ index: 0, status: 'abandoned', startedAt: 1, endedAt: 2, parts: [] },
      ...{ error: { code: 'x', message: secret } },
    },
    {
      ...{ index: 1, status: 'ended', startedAt: 1, endedAt: 2, parts, model: 'a-model' },
      ...{ finishReason: 'stop', usage: { inputTokens: 1 }, providerMetadata: meta },
      replaced: [{ model: secret, by: 'a-model', error: { code: 'x', message: secret } }],
    },
  ],
}

it('[FK5] shares texts, calls and results, and no field that is not listed', () => {
  const shared = toSharedMessage(turn, 7)
  expect(JSON.stringify(shared)).not.toContain(secret)
  expect(shared).toEqual({
    ...{ role: 'assistant', id: 'turn-1', seq: 7, lastSeq: 7, replyTo: 'user-1', createdAt: 5 },
    ...{ progress: turn.progress, unreadable: 0 },
    steps: [
      { index: 0, status: 'abandoned', startedAt: 1, endedAt: 2, parts: [] },
      {
        ...{ index: 1, status: 'ended', startedAt: 1, endedAt: 2, model: 'a-model' },
        finishReason: 'stop',
        parts: [
          { type: 'text', block: '0', text: 'Hello', state: 'done' },
          { type: 'reasoning', block: '1', text: 'Hm', state: 'done' },
          { type: 'source-url', sourceId: 's', url: 'https://a.example' },
          { type: 'steering', id: 'm', parts: [], at: 1 },
          { type: 'data', name: 'chart', data: [1] },
          {
            ...{ type: 'call', id: 'call-1', providerCallId: 'call-1', name: 'look_up', step: 0 },
            ...{ title: 'Look up', input: call.input, approval: 'required', createdAt: 1 },
            decision: { kind: 'accepted', by: 'owner', at: 1, inputHash: '', feedback: 'go on' },
            resolution: { kind: 'done', by: 'owner', at: 2 },
            ...{ startedAt: 2, endedAt: 3, state: 'succeeded', output: call.output },
          },
          {
            ...{ type: 'call', id: 'call-2', providerCallId: 'call-2', name: 'look_up', step: 0 },
            ...{ input: failed.input, approval: 'not-required', createdAt: 1 },
            ...{ state: 'failed', cause: 'tool-error', error: 'It broke.', endedAt: 4 },
          },
        ],
      },
    ],
  })
})

it('[FK5] shares no answer that is being made or waits, and no instructions', () => {
  expect(toSharedMessage({ ...turn, progress: { status: 'running' } }, 1)).toBeNull()
  const waiting = { status: 'waiting', waitingFor: 'approval' } as const
  expect(toSharedMessage({ ...turn, progress: waiting }, 1)).toBeNull()
  const message: Omit<UserMessage, 'role'> = {
    id: parseMessageId('u'),
    seq: 9,
    parts: [{ type: 'text', text: 'Hi' }],
    createdAt: 1,
    metadata: secret,
    versions: turn.versions ?? [],
  }
  expect(toSharedMessage({ ...message, role: 'system' }, 1)).toBeNull()
  expect(toSharedMessage({ ...message, role: 'user' }, 2)).toEqual({
    ...{ role: 'user', id: 'u', seq: 2, parts: message.parts, createdAt: 1 },
  })
})
