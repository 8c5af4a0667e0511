import { describe, expect, it } from 'vitest'
import { isTurnEvent, type NewEvent, numberEvents } from '../../src/core/event.ts'
import { emptyTurn, foldTurn } from '../../src/core/fold-turn.ts'
import { type MessageId, parseCallId } from '../../src/core/ids.ts'
import type { Turn } from '../../src/core/message.ts'
import type { MessageVersion } from '../../src/core/versions.ts'
import { planCommit, type PlannedCommit } from '../../src/store/plan-commit.ts'
import { toSnapshot } from '../../src/store/turn-snapshot.ts'
import {
  at,
  begun,
  call,
  ended,
  messageAdded,
  recorded,
  resumed,
  settled,
  started,
  succeeded,
  text,
  thread,
  turn,
  turnEvent,
  user,
} from '../../src/testing/store-rules/thread-script.ts'
import {
  batch,
  changed,
  line,
  messageRow,
  recordedLine,
  row,
  settledLine,
  startedLine,
  textLines,
  threadBatch,
  turnRow,
} from './planned-rows.ts'

const second = parseCallId('second')
const paused = turnEvent({ type: 'turn-paused', waitingFor: 'approval' })
const unknown = settled({ state: 'unknown', cause: 'crashed' })
const decision = { kind: 'accepted', by: 'ana', at, inputHash: 'h' } as const
const decided = turnEvent({ type: 'call-decided', callId: call, decision })
const retry = { kind: 'retry', by: 'ana', at } as const
const skip = { kind: 'skip', by: 'ana', at } as const
const resolve = (resolution: typeof retry | typeof skip) =>
  turnEvent({ type: 'call-resolved', callId: call, resolution })
const retire = (...messageIds: readonly MessageId[]): NewEvent => ({
  type: 'messages-retired',
  messageIds,
  at,
})

/** The turn as these events leave it, if there is one; they are the first of the thread. */
function turnAfter(events: readonly NewEvent[]): Turn | undefined {
  const own = numberEvents(events, 1).filter(isTurnEvent)
  const [first] = own
  return first && foldTurn(emptyTurn(turn, first.seq, first.at), own)
}

function plan(before: readonly NewEvent[], events: readonly NewEvent[]) {
  const known = turnAfter(before)
  const turns = known === undefined ? [] : [known]
  return planCommit({ threadId: thread, events, expectedSeq: before.length, turns })
}

type Rows = Omit<PlannedCommit, 'append' | 'turns' | 'numbered' | 'size'>
const none: Rows = {
  title: null,
  isTitledByModel: false,
  flags: {},
  forkedFrom: null,
  activityAt: null,
  queue: null,
  newMessages: [],
  changedMessages: [],
  shownMessages: [],
  batches: [],
  calls: [],
  files: [],
  queuedFiles: [],
  releasedFiles: [],
  inputs: [],
}

const bothVersions = [
  { id: user, seq: 1 },
  { id: user, seq: 3 },
]

interface Case {
  readonly name: string
  readonly before?: readonly NewEvent[]
  readonly events: readonly NewEvent[]
  readonly rows: object
}

const ready = [started(), recorded()]
const running = [...ready, begun()]
const done = [...running, succeeded(7)]
const waiting = [started(), recorded(call, { approval: 'required' }), paused]
const over = [...running, unknown, ended()]
const snapshotOf = (events: readonly NewEvent[]) => toSnapshot(turnAfter(events) as Turn)

const cases: readonly Case[] = [
  { name: 'nothing', events: [], rows: {} },
  {
    name: 'text, which changes no row but adds a batch',
    before: running,
    events: text('Hi'),
    rows: { batches: [batch(6, ...textLines)] },
  },
  {
    name: 'a message, whose row is its one home',
    events: [messageAdded('Hi')],
    rows: { activityAt: at, flags: { archived: false }, newMessages: [messageRow(1)] },
  },
  {
    name: 'a new name, and a turn that begins',
    events: [{ type: 'thread-renamed', title: 'New', at }, started()],
    rows: {
      title: 'New',
      activityAt: at,
      newMessages: [turnRow(2, 'running')],
      batches: [
        threadBatch(1, line('thread-renamed', ',"title":"New"')),
        { ...batch(2, startedLine), turnSeq: 2 },
      ],
    },
  },
  {
    name: 'a name that a model gave',
    events: [{ type: 'thread-renamed', title: 'New', by: 'model', at }],
    rows: {
      title: 'New',
      isTitledByModel: true,
      batches: [threadBatch(1, line('thread-renamed', ',"title":"New","by":"model"'))],
    },
  },
  {
    name: 'flags, of which the last word counts',
    events: [
      { type: 'thread-flagged', pinned: true, archived: true, at },
      { type: 'thread-flagged', archived: false, at },
    ],
    rows: {
      flags: { pinned: true, archived: false },
      batches: [
        {
          ...threadBatch(2, line('thread-flagged', ',"pinned":true,"archived":true')),
          size: 2,
          payload: [
            line('thread-flagged', ',"pinned":true,"archived":true'),
            line('thread-flagged', ',"archived":false'),
          ].join('\n'),
        },
      ],
    },
  },
  {
    name: 'a call that is recorded, which needs no row yet',
    before: [started()],
    events: [recorded()],
    rows: { batches: [batch(2, recordedLine('call'))] },
  },
  {
    name: 'a call that begins to run, which needs none either',
    before: ready,
    events: [begun()],
    rows: { batches: [batch(3, line('call-started', ',"callId":"call"'))] },
  },
  {
    name: 'a call that waits for a person',
    before: [started()],
    events: [recorded(call, { approval: 'required' })],
    rows: {
      batches: [batch(2, recordedLine('call', 'required'))],
      calls: [row('awaiting-approval', { isNew: true })],
    },
  },
  {
    name: 'a result, which stands in the row and not in the event',
    before: running,
    events: [succeeded(7)],
    rows: { batches: [batch(4, settledLine)], calls: [row('succeeded', { output: '7' })] },
  },
  {
    name: 'one of two results: the other call has no row',
    before: [...running, recorded(second)],
    events: [succeeded(7)],
    rows: { batches: [batch(5, settledLine)], calls: [row('succeeded', { output: '7' })] },
  },
  {
    name: 'a turn that pauses: now every call has a row',
    before: [...done, recorded(second)],
    events: [paused],
    rows: {
      changedMessages: [changed('waiting')],
      batches: [batch(6, line('turn-paused', ',"waitingFor":"approval"'))],
      calls: [row('ready', { callId: second, seq: 3 })],
    },
  },
  {
    name: 'a decision on a turn that waits',
    before: waiting,
    events: [decided],
    rows: {
      batches: [
        batch(4, line('call-decided', `,"callId":"call","decision":${JSON.stringify(decision)}`)),
      ],
      calls: [row('ready')],
    },
  },
  {
    name: 'a turn that is resumed: the row of a call that is ready may stay as it is',
    before: [...waiting, decided],
    events: [resumed()],
    rows: { changedMessages: [changed('running')], batches: [batch(5, line('turn-resumed'))] },
  },
  {
    name: 'an approved call with its result: its row is brought up to date',
    before: [...waiting, decided, resumed(), begun()],
    events: [succeeded(7)],
    rows: { batches: [batch(7, settledLine)], calls: [row('succeeded', { output: '7' })] },
  },
  {
    name: 'a turn that ends: its snapshot, and no events',
    before: done,
    events: [...text('Hi'), ended()],
    rows: {
      activityAt: at,
      changedMessages: [
        changed('ended', {
          snapshot: { body: snapshotOf([...done, ...text('Hi'), ended()]), seq: 8 },
        }),
      ],
    },
  },
  {
    name: 'a result and the end in one append',
    before: running,
    events: [succeeded(7), ended()],
    rows: {
      activityAt: at,
      changedMessages: [
        changed('ended', { snapshot: { body: snapshotOf([...done, ended()]), seq: 5 } }),
      ],
      calls: [row('succeeded', { output: '7' })],
    },
  },
  {
    name: 'a turn that begins and ends in one append: one row for it, one for each call',
    events: [...done, ended(), messageAdded('Hi')],
    rows: {
      flags: { archived: false },
      activityAt: at,
      newMessages: [
        turnRow(1, 'ended', { body: snapshotOf([...done, ended()]), bodySeq: 5 }),
        messageRow(6),
      ],
      calls: [row('succeeded', { output: '7', isNew: true })],
    },
  },
  {
    name: 'a call of unknown outcome that is tried again: the turn is open again',
    before: over,
    events: [resumed(), resolve(retry), begun()],
    rows: {
      changedMessages: [changed('running')],
      batches: [
        batch(
          8,
          line('turn-resumed'),
          line('call-resolved', `,"callId":"call","resolution":${JSON.stringify(retry)}`),
          line('call-started', ',"callId":"call"'),
        ),
      ],
      // The row said `unknown`, and somebody may ask for the call: it says where the call stands.
      calls: [row('running')],
    },
  },
  {
    name: 'a turn that is resumed and ended in one append: a newer snapshot',
    before: over,
    events: [resumed(), resolve(skip), ended()],
    rows: {
      activityAt: at,
      changedMessages: [
        changed('ended', {
          snapshot: { body: snapshotOf([...over, resumed(), resolve(skip), ended()]), seq: 8 },
        }),
      ],
      calls: [row('skipped')],
    },
  },
  {
    name: 'messages that are retired: found by their ids',
    before: [started(), ended()],
    events: [retire(user, turn)],
    rows: {
      changedMessages: [
        changed(null, { id: user, seq: null, retiredSeq: 3 }),
        changed(null, { seq: null, retiredSeq: 3 }),
      ],
      batches: [threadBatch(3, line('messages-retired', ',"messageIds":["user","turn"]'))],
    },
  },
  {
    name: 'a turn that ends and is retired: one change of its row',
    before: [started()],
    events: [ended(), retire(turn)],
    rows: {
      activityAt: at,
      changedMessages: [
        changed('ended', {
          snapshot: { body: snapshotOf([started(), ended()]), seq: 2 },
          retiredSeq: 3,
        }),
      ],
      batches: [threadBatch(3, line('messages-retired', ',"messageIds":["turn"]'))],
    },
  },
  {
    name: 'an edit that keeps the id: both rows know both versions, and the old one what it followed',
    before: [messageAdded('Hello')],
    events: [
      { ...retire(user), kept: { after: 0, places: [1] } } as NewEvent,
      { ...messageAdded('Hi'), versionOf: [{ id: user, seq: 1 }] } as NewEvent,
    ],
    rows: {
      flags: { archived: false },
      activityAt: at,
      newMessages: [messageRow(3, { versions: bothVersions })],
      changedMessages: [
        changed(null, { id: user, retiredSeq: 2, parentSeq: 0, versions: bothVersions }),
      ],
      batches: [
        threadBatch(
          2,
          line('messages-retired', ',"messageIds":["user"],"kept":{"after":0,"places":[1]}'),
        ),
      ],
    },
  },
  {
    name: 'messages that are shown again, by their places',
    before: [messageAdded('One'), messageAdded('Two'), messageAdded('Three'), messageAdded('Four')],
    events: [{ type: 'messages-shown', places: [1, 2], at }],
    rows: {
      shownMessages: [1, 2],
      batches: [threadBatch(5, line('messages-shown', ',"places":[1,2]'))],
    },
  },
]

describe('a commit is planned as rows', () => {
  it.each(cases)('[LG4 CL3] $name', ({ before = [], events, rows }) => {
    const planned = plan(before, events)
    if ('kind' in planned) throw new Error(JSON.stringify(planned))
    const { append, turns, numbered, size, ...found } = planned
    expect(found).toEqual({ ...none, ...rows })
    expect(append.events).toBe(events)
    expect(size).toBe(events.length)
    const after = events.some(isTurnEvent) ? [turnAfter([...before, ...events])] : []
    expect([...turns.values()]).toEqual(after)
  })

  it('[VR1] what is withdrawn leaves the lists of all its versions, and one that is left has no list', () => {
    const versions = [1, 4, 7].map((seq) => ({ id: `answer-${seq}` as MessageId, seq }))
    const planOf = (list: readonly MessageVersion[]) => {
      const last = list.at(-1) as MessageVersion
      const withdrawn = [{ ...emptyTurn(last.id, last.seq, at), versions: list }]
      const events = [retire(last.id), { type: 'messages-shown', places: [4], at } as const]
      const planned = planCommit({ threadId: thread, events, expectedSeq: 9, withdrawn })
      return 'kind' in planned ? planned : planned.changedMessages
    }
    const rowOf = ({ id, seq }: MessageVersion, more: object) => changed(null, { id, seq, ...more })
    const [first, second, third] = versions as [MessageVersion, MessageVersion, MessageVersion]
    expect(planOf(versions)).toEqual([
      rowOf(first, { versions: [first, second] }),
      rowOf(second, { versions: [first, second] }),
      rowOf(third, { versions: [], retiredSeq: 10 }),
    ])
    expect(planOf([second, third])).toEqual([
      rowOf(second, { versions: [] }),
      rowOf(third, { versions: [], retiredSeq: 10 }),
    ])
  })
})
