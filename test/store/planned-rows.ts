import { at, call, turn, user } from '../../src/testing/store-rules/thread-script.ts'

/** A row of events: its last seq, and a line for each. */
export const batch = (seq: number, ...lines: readonly string[]) => {
  return { seq, size: lines.length, turnId: turn, turnSeq: 1, at, payload: lines.join('\n') }
}
export const threadBatch = (seq: number, only: string) => {
  return { ...batch(seq, only), turnId: null, turnSeq: null }
}
export const line = (type: string, more = '') => `{"type":"${type}"${more}}`
export const textLines = [
  line('text-started', ',"block":"0","kind":"text"'),
  line('text-appended', ',"block":"0","delta":"Hi"'),
  line('text-ended', ',"block":"0"'),
]
export const startedLine = line('turn-started', ',"replyTo":null')
export const recordedLine = (id: string, approval = 'not-required') =>
  line(
    'call-recorded',
    `,"callId":"${id}","call":{"id":"${id}","providerCallId":"call_0","name":"look_up"},"input":{},"approval":"${approval}"`,
  )
export const settledLine = line('call-settled', ',"callId":"call","outcome":{"state":"succeeded"}')

export const row = (lifecycle: string, more: object = {}) => ({
  callId: call,
  turnId: turn,
  turnSeq: 1,
  seq: 2,
  name: 'look_up',
  lifecycle,
  input: '{}',
  output: null,
  modelOutput: null,
  isNew: false,
  ...more,
})
export const messageRow = (seq: number, more: object = {}) => {
  const body = '{"parts":[{"type":"text","text":"Hi"}]}'
  const place = { seq, bodySeq: seq, retiredSeq: null, parentSeq: null, versions: null }
  return { ...place, id: user, role: 'user', status: null, at, body, ...more }
}
export const turnRow = (seq: number, status: string, more: object = {}) => {
  const empty = { body: null, bodySeq: null, retiredSeq: null, parentSeq: null, versions: null }
  return { ...empty, seq, id: turn, role: 'assistant', status, at, ...more }
}
export const changed = (status: string | null, more: object = {}) => ({
  ...{ id: turn, seq: 1, status, snapshot: null, retiredSeq: null, parentSeq: null },
  versions: null,
  ...more,
})
