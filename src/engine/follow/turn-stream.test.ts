import { expect, it } from 'vitest'
import { isTurnEvent, type LedgerEvent } from '../../core/event.ts'
import { emptyTurn, foldTurn } from '../../core/fold-turn.ts'
import { parseThreadId } from '../../core/ids.ts'
import type { Part, Turn } from '../../core/message.ts'
import { withDefined } from '../../core/with-defined.ts'
import { memory } from '../../store/memory/memory-store.ts'
import { createRandom, type Random } from '../../testing/random.ts'
import { randomLedger } from '../../testing/random-ledger.ts'
import type { Frame } from './live-window.ts'
import { streamTurn, type TurnFeed, type TurnMove, type TurnStreamQuery } from './turn-stream.ts'

const threadId = parseThreadId('t')
const store = memory()

interface History {
  readonly events: readonly LedgerEvent[]
  /** The turn after each of its events. */
  readonly states: readonly Turn[]
}

/** The last turn of a random thread; its seqs are those of its own events. */
function historyOf(seed: number): History {
  const events: LedgerEvent[] = []
  const states: Turn[] = []
  for (const event of randomLedger(seed, { turns: 1 })) {
    if (!isTurnEvent(event)) continue
    const seq = events.length + 1
    const before = states.at(-1) ?? emptyTurn(event.turnId, seq, event.at)
    events.push({ ...event, seq })
    states.push(foldTurn(before, [{ ...event, seq }]))
  }
  return { events, states }
}

/** The frames between any two seqs, each the same object for all; of some the turn was folded by another process. */
function createFrames({ events, states }: History, random: Random) {
  const frames = new Map<string, Frame>()
  return (after: number, seq: number): Frame => {
    const key = `${after} ${seq}`
    const changes = events
      .slice(after, seq)
      .map((event) => ({ kind: 'event', seq: event.seq, commit: seq, event }) as const)
    const turn = random.chance(0.9) ? states[seq - 1] : undefined
    const frame = { after, seq, changes, incarnation: 'one', bytes: 1 }
    const known = frames.get(key) ?? withDefined(frame, { turn })
    frames.set(key, known)
    return known
  }
}

const omitOutput = (part: Part): Part =>
  part.type === 'call' && part.state === 'succeeded'
    ? { ...part, output: { kind: 'omitted', bytes: 20_000 } }
    : part

/** As a store returns it: an object of its own, and sometimes without its results. */
const readAgain = (turn: Turn, isLean: boolean): Turn => ({
  ...turn,
  steps: isLean
    ? turn.steps.map((step) => ({ ...step, parts: step.parts.map(omitOutput) }))
    : turn.steps,
})

function randomQuery(states: readonly Turn[], random: Random): TurnStreamQuery {
  const running = states.flatMap(({ progress }, index) =>
    progress.status === 'running' ? [index] : [],
  )
  const at = random.pick(running)
  const turn = readAgain(states[at] as Turn, random.chance(0.1))
  const sent = random.chance(0.5) ? states[random.int(at + 1)] : undefined
  const sdk = random.pick([7, undefined] as const)
  const basePath = random.pick(['', undefined] as const)
  const stored = { turn, incarnation: 'one' }
  return withDefined({ threadId, turnId: turn.id, sdk, stored }, { sent, basePath })
}

it('[OP7a FD1] each of many followers of a turn gets what it would get alone', async () => {
  let sharing = 0
  for (let seed = 0; seed < 15; seed++) {
    const history = historyOf(seed)
    const { length } = history.states
    const frameOf = createFrames(history, createRandom(seed))
    const follow = (query: TurnStreamQuery, portions: Random, isAlone: boolean) => {
      const feed: TurnFeed = {
        store,
        async *subscribe(_, place) {
          let at = typeof place === 'number' ? place : place.seq
          while (at < length) {
            const seq = Math.min(length, at + (portions.chance(0.8) ? 1 : 2))
            const frame = frameOf(at, seq)
            yield isAlone ? { ...frame } : frame
            at = seq
          }
        },
      }
      return collect(streamTurn(feed, query, new AbortController().signal))
    }
    const received = new Set<TurnMove['chunks']>()
    for (let nth = 0; nth < 12; nth++) {
      const query = randomQuery(history.states, createRandom(1_000 * seed + nth))
      const moves = await follow(query, createRandom(nth), false)
      const alone = await follow(query, createRandom(nth), true)
      expect(moves, `seed ${seed}, follower ${nth}`).toEqual(alone)
      for (const chunks of moves) {
        if (received.has(chunks)) sharing++
        received.add(chunks)
      }
    }
  }
  expect(sharing).toBeGreaterThan(200)
})

async function collect(moves: AsyncIterable<TurnMove>): Promise<readonly TurnMove['chunks'][]> {
  const all: TurnMove['chunks'][] = []
  for await (const { chunks } of moves) all.push(chunks)
  return all
}
