import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createFairTurns } from './fair-turns.ts'

describe('turns at the database', () => {
  it('[OP7] go on in one tick for a slice, and then wait for the next turn of the event loop', async () => {
    let at = 0
    const waitForTurn = createFairTurns(() => at)
    expect(waitForTurn()).toBeUndefined()
    at = 4
    expect(waitForTurn()).toBeUndefined()
    at = 5
    const waits = waitForTurn()
    expect(waits).toBeInstanceOf(Promise)
    let others = 0
    const other = setImmediate().then(() => others++)
    await waits
    await other
    expect(others).toBe(1)
    expect(waitForTurn()).toBeUndefined()
  })

  it('[OP7] count anew in each turn of the event loop', async () => {
    let at = 0
    const waitForTurn = createFairTurns(() => at)
    expect(waitForTurn()).toBeUndefined()
    await setImmediate()
    at = 100
    expect(waitForTurn()).toBeUndefined()
  })
})
