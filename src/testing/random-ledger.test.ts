import { describe, expect, test } from 'vitest'
import { isTurnEvent, type NewEvent, numberEvents } from '../core/event.ts'
import { emptyTurn, foldTurn } from '../core/fold-turn.ts'
import { callTransition, isCallEvent, lifecycleOf, turnTransition } from '../core/lifecycle.ts'
import { callsOf, type Turn } from '../core/message.ts'
import { findEventFault } from '../core/parse-event.ts'
import { randomLedger } from './random-ledger.ts'

const seeds = Array.from({ length: 150 }, (_, seed) => seed)

const wanted = `
  message-added messages-retired thread-renamed turn-started turn-paused turn-resumed turn-ended
  step-started step-ended step-abandoned text-started text-appended text-ended item-added
  call-announced call-input-appended call-recorded call-revised call-decided call-started
  call-progressed call-settled call-resolved
  accepted rejected retry done skip approval resolution client
  succeeded failed:tool-error failed:invalid-input failed:unknown-tool failed:timeout
  denied:superseded stopped:stopped interrupted:stream-failed interrupted:crashed
  interrupted:over-limit unknown:crashed
  completed stopped cut-off step-limit no-answer superseded interrupted failed
  source-url source-document file reasoning-file custom data
`.trim()

/** Folds a ledger and returns the first event, if any, that the state before it does not allow. */
function findIllegal(events: readonly NewEvent[]): string | undefined {
  const turns = new Map<string, Turn>()
  for (const event of numberEvents(events, 1)) {
    const index = event.seq - 1
    const fault = findEventFault(event)
    if (fault !== undefined) return `${index}: ${fault}`
    if (!isTurnEvent(event)) continue
    const before = turns.get(event.turnId)
    const status = before?.progress.status ?? 'absent'
    if (!turnTransition(event).from.includes(status)) return `${index}: ${event.type} in ${status}`
    if (isCallEvent(event) && before !== undefined) {
      const call = [...callsOf(before)].find(({ id }) => id === event.callId)
      const lifecycle = call === undefined ? 'absent' : lifecycleOf(call)
      // A call that does not exist yet has no state to pass.
      const { from } = callTransition(event, lifecycle === 'absent' ? 'streaming' : lifecycle)
      if (!from.includes(lifecycle)) return `${index}: ${event.type} in ${lifecycle}`
    }
    const turn = before ?? emptyTurn(event.turnId, event.seq, event.at)
    turns.set(event.turnId, foldTurn(turn, [event]))
  }
  return undefined
}

describe('randomLedger', () => {
  test('[CL2] is legal for every seed, in every shape', () => {
    for (const seed of seeds) {
      expect([seed, findIllegal(randomLedger(seed))]).toEqual([seed, undefined])
      expect([seed, findIllegal(randomLedger(seed, { shape: 'crashed' }))]).toEqual([
        seed,
        undefined,
      ])
    }
  })

  test('[CL2] an event out of place is found', () => {
    const events = randomLedger(1, { turns: 1 })
    const ended = events.find((event) => event.type === 'turn-ended')!
    expect(findIllegal([...events, ended])).toBe(`${events.length}: turn-ended in ended`)
  })

  test('[LG5] is the same for the same seed', () => {
    expect(randomLedger(7)).toEqual(randomLedger(7))
    expect(randomLedger(7)).not.toEqual(randomLedger(8))
  })

  test('[CL1] meets every event, every outcome and every ending', () => {
    const met = new Set<string>()
    for (const event of seeds.flatMap((seed) => randomLedger(seed))) {
      met.add(event.type)
      if (event.type === 'call-settled') {
        const { outcome } = event
        met.add(outcome.state === 'succeeded' ? 'succeeded' : `${outcome.state}:${outcome.cause}`)
      }
      if (event.type === 'call-decided') met.add(event.decision.kind)
      if (event.type === 'call-resolved') met.add(event.resolution.kind)
      if (event.type === 'turn-paused') met.add(event.waitingFor)
      if (event.type === 'turn-ended') met.add(event.ending.kind)
      if (event.type === 'item-added') met.add(event.item.type)
    }
    expect(wanted.split(/\s+/).filter((kind) => !met.has(kind))).toEqual([])
  })

  test('[LG10] makes ids that are unique, and lets providers repeat theirs', () => {
    const ids: string[] = []
    const providerIds: string[] = []
    for (const event of seeds.flatMap((seed) => randomLedger(seed))) {
      if (event.type === 'message-added') ids.push(event.messageId)
      if (event.type === 'turn-started') ids.push(event.turnId)
      if (event.type === 'call-announced') {
        ids.push(event.callId)
        providerIds.push(event.call.providerCallId)
      }
    }
    expect(new Set(ids).size).toBe(ids.length)
    expect(new Set(providerIds).size).toBeLessThan(providerIds.length)
  })
})
