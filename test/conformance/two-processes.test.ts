import { describe, expect, it } from 'vitest'
import type { NewEvent } from '../../src/core/event.ts'
import { isOpenState } from '../../src/core/call.ts'
import type { CallId, MessageId, ThreadId } from '../../src/core/ids.ts'
import { callsOf, isTurn } from '../../src/core/message.ts'
import type { LeaseUse } from '../../src/store/lease.ts'
import { memory } from '../../src/store/memory/index.ts'
import {
  type Append,
  type IllegalAppend,
  planCommit,
  type PlannedCommit,
} from '../../src/store/plan-commit.ts'
import type { AppendResult, Store } from '../../src/store/store.ts'
import { createRandom } from '../../src/testing/random.ts'
import { readChanges, readPage } from '../../src/testing/store-rules/read-thread.ts'
import {
  begun,
  createThread,
  recorded,
  started,
  succeeded,
} from '../../src/testing/store-rules/thread-script.ts'
import { openTestDatabase } from '../postgres/test-database.ts'
import { openStore, temporaryFile } from '../sqlite/temporary-file.ts'
import {
  type Action,
  createAndBegin,
  callsIn,
  type Known,
  randomAction,
  type RandomAppend,
  threads,
  turnsOf,
} from './random-actions.ts'
import { withoutMarks } from '../../src/testing/store-rules/without-marks.ts'

type Basis = Required<Pick<Append, 'expectedSeq' | 'turns'>>

/** Two processes on one database. The store in memory has one, which plays both. */
interface Pair {
  readonly stores: readonly [Store, Store]
  readonly fences: Map<ThreadId, number>
  /** What each process has read, of a thread and a turn, and still goes by. */
  readonly remembered: Map<string, Basis>
}

const pairOf = (...stores: readonly [Store, Store]): Pair => ({
  stores,
  fences: new Map(),
  remembered: new Map(),
})

async function readBasis(store: Store, threadId: ThreadId, turnId: MessageId): Promise<Basis> {
  const found = await store.findTurn(turnId)
  if (found !== null) return { expectedSeq: found.seq, turns: [found.turn] }
  return { expectedSeq: (await store.readThread(threadId))?.seq ?? 0, turns: [] }
}

/** One result for each append: of the plan if that refuses it, of the store otherwise. */
async function play(pair: Pair, { who, appends }: Action): Promise<readonly AppendResult[]> {
  const store = pair.stores[who]
  const left = new Map<ThreadId, Basis>()
  const plans: (PlannedCommit | IllegalAppend)[] = []
  for (const { basis, isRemembered, as, turnId, ...append } of appends) {
    const { threadId } = append
    const key = `${who} ${threadId} ${turnId}`
    const fresh = await readBasis(store, threadId, turnId)
    const known = { fresh, remembered: pair.remembered.get(key), chained: left.get(threadId) }
    const from = known[basis] ?? fresh
    if (isRemembered) pair.remembered.set(key, fresh)
    const lease = leaseOf(as, pair.fences.get(threadId) ?? 0, turnId)
    const planned = planCommit({ ...append, ...from, ...(lease === undefined ? {} : { lease }) })
    plans.push(planned)
    if ('kind' in planned) continue
    const turns = [...planned.turns.values()]
    left.set(threadId, { expectedSeq: from.expectedSeq + planned.size, turns })
  }
  const isLegal = (plan: PlannedCommit | IllegalAppend): plan is PlannedCommit => !('kind' in plan)
  const stored = (await store.commit(plans.filter(isLegal))).map(withoutMarks)
  const results = plans.map((plan) => (isLegal(plan) ? (stored.shift() as AppendResult) : plan))
  for (const [index, result] of results.entries()) {
    const { as, threadId } = appends[index] as RandomAppend
    if (as !== 'acquirer' || result.kind !== 'appended') continue
    pair.fences.set(threadId, result.fence ?? 0)
  }
  return results
}

function leaseOf(as: RandomAppend['as'], fence: number, turnId: MessageId): LeaseUse | undefined {
  if (as === 'nobody') return undefined
  if (as === 'ender') return { kind: 'release', fence }
  if (as === 'run') return { kind: 'hold', fence }
  if (as === 'overtaken') return { kind: 'hold', fence: fence - 1 }
  return { kind: 'acquire', holder: 'somebody', ttlMs: 600_000, turnId, overFence: fence }
}

/** All but the fence; and of several ids that are refused, a store may name any. */
const comparable = (results: readonly AppendResult[]) =>
  results.map((result) => {
    if (result.kind === 'illegal') {
      const { kind, subject, state } = result
      return { kind, subject, state }
    }
    const { fence: _, ...said } = { fence: undefined, ...result }
    return said
  })

/** All that can be read of a thread, with the calls that an action was about. */
async function readAll(store: Store, threadId: ThreadId, { appends }: Action) {
  const thread = await store.readThread(threadId)
  if (thread === null) return null
  const own = appends.filter((append) => append.threadId === threadId)
  const ids = own.flatMap(({ events }) =>
    events.flatMap((event) => ('callId' in event ? [event.callId] : [])),
  )
  const [page, changes, ...calls] = await Promise.all([
    readPage(store, { threadId }),
    readChanges(store, 0, 1_000, threadId),
    ...new Set(ids).values().map((id) => store.readCall(threadId, id)),
  ])
  const { activity: _, ...row } = withoutMarks(thread)
  return { row, page, changes, calls: calls.map((found) => found?.call) }
}

/** How often each answer was given: a run in which nothing happens proves nothing. */
type Counts = Record<string, number>

async function compare(stores: Pair['stores'], seed: number, counts: Counts): Promise<void> {
  const one = memory()
  const [model, pair] = [pairOf(one, one), pairOf(...stores)]
  for (const id of threads) await stores[1].deleteThread(id)
  const random = createRandom(seed)
  const first = threads.filter(() => random.chance(0.8)).map((id) => createAndBegin(0, id))
  for (let index = 0; index < 40; index++) {
    const action = first.shift() ?? randomAction(random, await readKnown(one))
    const expected = await play(model, action)
    const found = await play(pair, action)
    const where = `seed ${seed}, action ${index}: ${JSON.stringify(action)}`
    expect({ where, said: comparable(found) }).toEqual({ where, said: comparable(expected) })
    for (const { kind } of found) counts[kind] = (counts[kind] ?? 0) + 1
    const reader = stores[random.chance(0.5) ? 0 : 1]
    for (const id of new Set(action.appends.map(({ threadId }) => threadId))) {
      const [read, modelled] = [await readAll(reader, id, action), await readAll(one, id, action)]
      expect({ where, ...read }).toEqual({ where, ...modelled })
    }
  }
}

async function readKnown(store: Store): Promise<Known> {
  const calls = new Map<ThreadId, readonly CallId[]>()
  const bases = new Map<MessageId, Basis>()
  for (const threadId of threads) {
    calls.set(threadId, await endedCallsOf(store, threadId))
    for (const id of turnsOf(threadId)) bases.set(id, await readBasis(store, threadId, id))
  }
  return {
    endedCalls: (threadId) => calls.get(threadId) ?? [],
    isLegal: (threadId, turnId, events) =>
      !('kind' in planCommit({ threadId, events, ...bases.get(turnId) })),
  }
}

async function endedCallsOf(store: Store, threadId: ThreadId): Promise<readonly CallId[]> {
  if ((await store.readThread(threadId)) === null) return []
  const { messages } = await readPage(store, { threadId })
  return messages
    .filter(isTurn)
    .flatMap((turn) => [...callsOf(turn)])
    .filter(({ state }) => state !== 'unknown' && !isOpenState(state))
    .map(({ id }) => id)
}

const openers = {
  async SQLite() {
    const file = temporaryFile()
    return [openStore(file), openStore(file)] as const
  },
  async PostgreSQL() {
    const database = await openTestDatabase()
    return [database.open(), database.open()] as const
  },
}

describe.each([
  { name: 'SQLite', first: 1, last: 60 },
  { name: 'PostgreSQL', first: 2_001, last: 2_018 },
] as const)('two processes that write to the same threads on $name', ({ name, first, last }) => {
  it(`[LG1 LG3 CL2 CL3] get on ${name} the answers and the threads that memory gives`, async () => {
    const stores = await openers[name]()
    const counts: Counts = {}
    for (let seed = first; seed <= last; seed++) await compare(stores, seed, counts)
    const seeds = last - first
    expect(counts['appended']).toBeGreaterThan(20 * seeds)
    for (const kind of ['stale', 'illegal', 'fenced', 'no-thread']) {
      expect([kind, (counts[kind] ?? 0) > seeds]).toEqual([kind, true])
    }
  })

  it(`[LG10 CR2] do not take a thread on ${name} for one that had its id before`, async () => {
    const stores = await openers[name]()
    const pair = pairOf(...stores)
    const [threadId] = threads as [ThreadId]
    const [turnId] = turnsOf(threadId) as [MessageId]
    const [one, other] = callsIn(turnId) as [CallId, CallId]
    const fresh = { basis: 'fresh', isRemembered: false, threadId, turnId } as const
    const write = (who: 0 | 1, as: RandomAppend['as'], events: readonly NewEvent[]) =>
      play(pair, { who, appends: [{ ...fresh, as, events }] })
    const begin = async (who: 0 | 1, id: CallId) => {
      await createThread(stores[who], threadId)
      await write(who, 'acquirer', [started(turnId)])
      await write(who, 'run', [recorded(id, { turnId }), begun(id, turnId)])
    }
    await begin(0, one)
    const remembered = await readBasis(stores[0], threadId, turnId)
    const fence = pair.fences.get(threadId) ?? 0
    await stores[1].deleteThread(threadId)
    await begin(1, other)
    // It stands where the one before stood, but its run has another fence.
    const lease = { kind: 'hold', fence } as const
    const late = { threadId, events: [succeeded(1, one, turnId)], lease, ...remembered }
    const planned = planCommit(late) as PlannedCommit
    expect(await stores[0].commit([planned])).toMatchObject([{ kind: 'fenced' }])
    const refused = { kind: 'illegal', subject: 'call', id: one, state: 'absent' }
    expect(await write(0, 'nobody', [succeeded(1, one, turnId)])).toEqual([refused])
    const own = await write(0, 'run', [succeeded(1, other, turnId)])
    expect(own).toMatchObject([{ kind: 'appended', seq: 4 }])
  })
})
