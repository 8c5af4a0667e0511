import { describe, expect, it } from 'vitest'
import { emptyTurn } from '../../core/fold-turn.ts'
import { parseMessageId } from '../../core/ids.ts'
import type { Clock } from '../clock.ts'
import type { RunHooks } from '../telemetry/hooks.ts'
import { endRun } from './end-run.ts'
import type { EndableRun } from './run-context.ts'
import type { RunLedger } from './run-ledger.ts'
import type { Successor } from './successor.ts'

/** A run whose end is stale this many times, and the pauses between. */
function losing(times: number) {
  const pauses: number[] = []
  let left = times
  const turn = emptyTurn(parseMessageId('turn'), 1, 1)
  const clock: Clock = {
    now: () => 1,
    after(ms, call) {
      pauses.push(ms)
      queueMicrotask(call)
      return () => {}
    },
    soon: queueMicrotask,
  }
  const commitIfCurrent: RunLedger['commitIfCurrent'] = async (plan) => {
    plan(turn, [])
    return left-- > 0 ? null : { next: null }
  }
  const successor: Successor = { prepare: () => null, launch: () => {}, discard: () => {} }
  const ledger = { turn, successor, commitIfCurrent } as RunLedger
  const hooks = { turnEnded: () => {} } as unknown as RunHooks
  const run: EndableRun = { ledger, clock, hooks }
  return { run, pauses }
}

const end = { ending: { kind: 'stopped' }, plan: () => [] } as const

describe('the end of a run that others write to', () => {
  it('[LG1 OP7] is tried again after pauses', async () => {
    const { run, pauses } = losing(6)
    expect(await endRun(run, end)).toBe(true)
    expect(pauses).toEqual([1, 2, 4])
  })

  it('[LG1] throws after a hundred attempts', async () => {
    await expect(endRun(losing(150).run, end)).rejects.toMatchObject({ code: 'store-failed' })
  })
})
