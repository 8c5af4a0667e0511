import { describe, expect, it } from 'vitest'
import type { NewEvent } from '../../src/core/event.ts'
import { foldTurn } from '../../src/core/fold-turn.ts'
import { type CallId, parseCallId } from '../../src/core/ids.ts'
import { memory } from '../../src/store/memory/index.ts'
import type { Append, AppendResult, LeaseUse, Store } from '../../src/store/store.ts'
import { createRandom, type Random } from '../../src/testing/random.ts'
import {
  ana,
  at,
  begun,
  createThread,
  ended,
  fact,
  recorded,
  resumed,
  say,
  settled,
  started,
  succeeded,
  text,
  thread,
  turn,
} from '../../src/testing/store-rules/thread-script.ts'
import { openTestDatabase } from '../postgres/test-database.ts'
import { openStore, temporaryFile } from '../sqlite/temporary-file.ts'

/** Two processes on one database. The store in memory has one, which plays both. */
interface Pair {
  readonly stores: readonly [Store, Store]
  fence: number
}

/** What one of them does: the lease is the pair's own, because fences differ from store to store. */
interface Deed {
  readonly who: 0 | 1
  readonly appends: readonly (Omit<Append, 'threadId' | 'lease'> & { readonly as: As })[]
}
type As = 'nobody' | 'run' | 'taker' | 'ender'

const ids = Array.from({ length: 5 }, (_, index) => parseCallId(`call-${index}`))
const decision = { kind: 'accepted', by: 'ana', at, inputHash: 'h' } as const

function randomFacts(random: Random): readonly NewEvent[] {
  const id = random.pick(ids)
  return random.pick<() => readonly NewEvent[]>([
    () => [recorded(id, { input: { of: id } })],
    () => [recorded(id, { input: { of: id } }), begun(id)],
    () => ids.flatMap((each) => [recorded(each), begun(each)]),
    () => [recorded(id, { approval: 'required' })],
    () => [fact({ type: 'call-announced', callId: id, call: originOf(id) })],
    () => [begun(id)],
    () => [succeeded({ result: id }, id)],
    () => ids.map((each) => succeeded('together', each)),
    () => [settled({ state: 'failed', cause: 'tool-error', error: 'no' }, id)],
    () => [settled({ state: 'unknown', cause: 'crashed' }, id)],
    () => [fact({ type: 'call-decided', callId: id, decision })],
    () => text('some'),
    () => [fact({ type: 'turn-paused', waitingFor: 'client' })],
    () => [resumed()],
    () => [ended()],
  ])()
}

const originOf = (id: CallId) => ({ id, providerCallId: id, name: 'look_up' })

/** A question that makes its thread. */
const create = { ownerId: ana, title: '', at }
const asking: Deed = {
  who: 0,
  appends: [{ as: 'taker', create, expectedSeq: 0, events: [say('hi'), started()] }],
}

function randomDeed(random: Random): Deed {
  const who = random.chance(0.7) ? 0 : 1
  if (random.chance(0.06)) return { who, appends: [{ as: 'taker', events: [] }] }
  if (random.chance(0.04)) return { who, appends: [{ as: 'ender', events: [ended()] }] }
  if (random.chance(0.02)) return { ...asking, who }
  const count = random.chance(0.2) ? 2 : 1
  const appends = Array.from({ length: count }, () => ({
    as: random.chance(0.85) ? ('run' as const) : ('nobody' as const),
    events: upToEnd(Array.from({ length: 1 + random.int(2) }, () => randomFacts(random)).flat()),
  }))
  return { who, appends }
}

/** Nobody ends a turn and goes on with it in one breath. */
function upToEnd(events: readonly NewEvent[]): readonly NewEvent[] {
  const end = events.findIndex(({ type }) => type === 'turn-ended')
  return end < 0 ? events : events.slice(0, end + 1)
}

async function play(pair: Pair, { who, appends }: Deed): Promise<readonly AppendResult[]> {
  const store = pair.stores[who]
  const seal = appends.some(({ as }) => as === 'ender') ? await sealOf(store) : {}
  const results = await store.commit(
    appends.map(({ as, ...append }) => {
      const lease = leaseOf(as, pair.fence)
      return { threadId: thread, ...append, ...seal, ...(lease === undefined ? {} : { lease }) }
    }),
  )
  for (const [index, result] of results.entries()) {
    const isTaken = appends[index]?.as === 'taker' && result.kind === 'appended'
    if (isTaken) pair.fence = result.fence ?? pair.fence
  }
  return results
}

/** As a run ends its turn: with the fold, of what stands now. */
async function sealOf(store: Store): Promise<Partial<Append>> {
  const { seq = 0 } = (await store.readThread(thread)) ?? {}
  const found = await store.readMessage(thread, turn)
  if (found?.role !== 'assistant') return { seal: [turn], expectedSeq: seq }
  const folded = foldTurn(found, [{ ...ended(), seq: seq + 1 }])
  return { seal: [turn], expectedSeq: seq, folded }
}

function leaseOf(as: As, fence: number): LeaseUse | undefined {
  if (as === 'nobody') return undefined
  if (as === 'ender') return { kind: 'release', fence }
  if (as === 'run') return { kind: 'hold', fence }
  return { kind: 'acquire', holder: 'somebody', ttlMs: 600_000, turnId: turn, overFence: fence }
}

/** All but the fence; and of several calls that are refused, a store may name any. */
const asSaid = (results: readonly AppendResult[]) =>
  results.map((result) => {
    if (result.kind === 'illegal') return { kind: result.kind, subject: result.subject }
    if (result.kind === 'fenced') return { kind: result.kind }
    const { fence, ...said } = result as AppendResult & { fence?: number }
    return said
  })

async function readAll(store: Store) {
  const calls = await Promise.all(ids.map((id) => store.readCall(thread, id)))
  return {
    turn: await store.readMessage(thread, turn),
    calls: calls.map((found) => found?.call),
  }
}

async function compare(stores: Pair['stores'], seed: number): Promise<number> {
  const one = memory()
  const pairs = [
    { stores: [one, one], fence: 0 },
    { stores, fence: 0 },
  ] as const satisfies readonly Pair[]
  // What a process remembers of the seed before is of a thread that is gone.
  await stores[1].deleteThread(thread)
  const random = createRandom(seed)
  const isAsking = random.chance(0.5)
  const begin: Deed = { who: 0, appends: [{ as: 'taker', events: [started()] }] }
  const deeds = [isAsking ? asking : begin, ...Array.from({ length: 40 }, () => randomDeed(random))]
  if (!isAsking) for (const pair of pairs) await createThread(pair.stores[0])
  let stored = 0
  for (const [index, deed] of deeds.entries()) {
    const expected = await play(pairs[0], deed)
    const found = await play(pairs[1], deed)
    const where = `seed ${seed}, deed ${index}: ${JSON.stringify(deed)}`
    expect({ where, said: asSaid(found) }).toEqual({ where, said: asSaid(expected) })
    stored += found.filter(({ kind }) => kind === 'appended').length
    const reader = stores[random.chance(0.5) ? 0 : 1]
    expect({ where, ...(await readAll(reader)) }).toEqual({ where, ...(await readAll(one)) })
  }
  return stored
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

/** Whoever remembers, and whoever has to look, says the same as a store that does neither. */
describe.each([
  { name: 'SQLite', first: 1, last: 100 },
  { name: 'PostgreSQL', first: 2_001, last: 2_040 },
] as const)('two processes that write to one turn on $name', ({ name, first, last }) => {
  it(`[LG1 CL2 CL3] say on ${name} what they say in memory`, async () => {
    const stores = await openers[name]()
    let stored = 0
    for (let seed = first; seed <= last; seed++) stored += await compare(stores, seed)
    expect(stored).toBeGreaterThan(10 * (last - first))
  })

  it(`[LG10] do not take a thread on ${name} for one that had its id before`, async () => {
    const stores = await openers[name]()
    const pair: Pair = { stores, fence: 0 }
    const [one, other] = ids as [CallId, CallId]
    const begin = async (who: 0 | 1, id: CallId) => {
      await createThread(stores[who])
      await play(pair, { who, appends: [{ as: 'taker', events: [started()] }] })
      await play(pair, { who, appends: [{ as: 'run', events: [recorded(id), begun(id)] }] })
    }
    await begin(0, one)
    await stores[1].deleteThread(thread)
    await begin(1, other)
    for (const as of ['nobody', 'run'] as const) {
      const refused = { kind: 'illegal', subject: 'call', id: one, state: 'absent' }
      const late = { who: 0, appends: [{ as, events: [succeeded(1, one)] }] } as const
      expect(await play(pair, late)).toEqual([refused])
    }
    const late = { who: 0, appends: [{ as: 'run', events: [succeeded(1, other)] }] } as const
    expect(await play(pair, late)).toMatchObject([{ kind: 'appended', seq: 4 }])
  })
})
