import { emptyTurn, foldTurn, type LedgerEvent, type MessageId } from 'holdfast'
import { measure, ms, printTable } from './measure.ts'

type TurnEvent = Extract<LedgerEvent, { readonly turnId: MessageId }>

/** One turn of 10,000 text deltas and 300 calls with 1 KB results each, one of them of 1 MB. */
function longTurn(): readonly TurnEvent[] {
  const turnId = 'turn' as MessageId
  const events: TurnEvent[] = []
  const add = (event: object) =>
    events.push({ ...event, turnId, at: 1, seq: events.length + 1 } as TurnEvent)
  add({ type: 'turn-started', replyTo: null })
  add({ type: 'step-started', step: 0 })
  add({ type: 'text-started', block: 't', kind: 'text' })
  for (let delta = 0; delta < 10_000; delta++) {
    add({ type: 'text-appended', block: 't', delta: 'some words ' })
    if (delta % 33 !== 0 || delta / 33 >= 300) continue
    const callId = `call-${delta / 33}`
    const call = { id: callId, providerCallId: callId, name: 'search' }
    const value = 'x'.repeat(delta === 0 ? 1_000_000 : 1_000)
    const output = { kind: 'inline', value }
    add({ type: 'call-recorded', callId, call, input: { q: callId }, approval: 'not-required' })
    add({ type: 'call-started', callId })
    add({ type: 'call-settled', callId, outcome: { state: 'succeeded', output } })
  }
  return events
}

export async function benchFold(): Promise<void> {
  const events = longTurn()
  const start = () => emptyTurn(events[0]?.turnId as MessageId, 1, 1)
  const [atOnce, oneByOne] = await measure(
    [
      { name: 'at once', run: () => foldTurn(start(), events) },
      {
        name: 'one by one',
        run: () => {
          let turn = start()
          for (const event of events) turn = foldTurn(turn, [event])
        },
      },
    ],
    15,
  )
  printTable(`Fold: one turn of ${events.length} events (bar: 50 ms)`, [
    { what: 'all events in one run', measured: ms(atOnce?.medianMs ?? 0) },
    { what: 'one event at a time', measured: ms(oneByOne?.medianMs ?? 0) },
  ])
}
