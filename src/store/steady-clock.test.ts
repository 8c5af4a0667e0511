import { describe, expect, it } from 'vitest'
import { createSteadyClock } from './steady-clock.ts'

const hour = 3_600_000

/** Both clocks pass together; the store's is an hour ahead to begin with, and can be set. */
function createTime() {
  let [elapsed, ahead] = [0, hour]
  const clock = createSteadyClock(() => elapsed)
  return {
    ...clock,
    see: () => clock.saw(elapsed + ahead),
    pass: (ms: number) => {
      elapsed += ms
    },
    set: (ms: number) => {
      ahead += ms
    },
    /** How much later than now, by the store's clock, a time may be that is believed. */
    early: () => (clock.latest() ?? Number.NaN) - (elapsed + ahead),
  }
}

describe('how far the clock of a store is believed', () => {
  it('[CR2] all of it before anything is known, and a second more than expected after that', () => {
    const time = createTime()
    expect(time.latest()).toBeNull()
    time.see()
    expect(time.early()).toBe(1_000)
    time.pass(10 * hour)
    expect(time.early()).toBe(1_000)
    time.set(900)
    time.see()
    expect(time.early()).toBe(1_000)
  })

  it('[CR2] not a jump forward, until the longest lease is over', () => {
    const time = createTime()
    time.leased(9_000)
    time.leased(2_000)
    time.see()
    time.set(hour)
    expect(time.early()).toBe(1_000 - hour)
    time.see()
    time.pass(8_999)
    time.see()
    expect(time.early()).toBe(1_000 - hour)
    time.pass(1)
    expect(time.early()).toBe(1_000)
    time.see()
    expect(time.early()).toBe(1_000)
  })

  it('[CR2] nor a second jump, until a lease after that one is over', () => {
    const time = createTime()
    time.see()
    time.set(hour)
    time.see()
    time.pass(4_000)
    time.set(hour)
    time.see()
    time.pass(999)
    expect(time.early()).toBe(1_000 - 2 * hour)
    time.pass(1)
    expect(time.early()).toBe(1_000 - hour)
    time.pass(3_999)
    expect(time.early()).toBe(1_000 - hour)
    time.pass(1)
    expect(time.early()).toBe(1_000)
  })

  it('[CR2] in the end, by a machine that sleeps between its looks: its own clock stands still, and each time is a jump', () => {
    const time = createTime()
    time.see()
    for (let minute = 0; minute < 60; minute++) {
      time.pass(1_000)
      time.set(59_000)
      time.see()
    }
    // As of five looks before, when it had been awake for a lease less.
    expect(time.early()).toBe(1_000 - 5 * 59_000)
  })

  it('[CR2] all of it while the store is heard of every second, whatever fails between', () => {
    const time = createTime()
    time.see()
    for (let look = 0; look < 100; look++) {
      time.pass(1_010)
      time.lost()
      time.see()
    }
    expect(time.early()).toBe(1_000)
  })

  it('[CR2] a jump back, at once', () => {
    const time = createTime()
    time.see()
    time.set(-hour)
    time.see()
    expect(time.early()).toBe(1_000)
    time.set(hour)
    time.see()
    expect(time.early()).toBe(1_000 - hour)
    time.set(-hour)
    time.see()
    expect(time.early()).toBe(1_000)
  })

  it.each([true, false])(
    '[CR2] only until the store went out of reach (known before: %s), until a lease after it came back is over',
    (isKnown) => {
      const time = createTime()
      if (isKnown) time.see()
      time.lost()
      time.pass(20_000)
      time.lost()
      time.pass(10_000)
      time.see()
      expect(time.early()).toBe(1_000 - 30_000)
      time.pass(4_999)
      expect(time.early()).toBe(1_000 - 30_000)
      time.lost()
      time.pass(1)
      time.see()
      expect(time.early()).toBe(1_000 - 35_000)
      time.pass(5_000)
      expect(time.early()).toBe(1_000)
    },
  )

  it('[CR2] all of it after a moment out of reach', () => {
    const time = createTime()
    time.see()
    time.lost()
    time.pass(900)
    time.see()
    expect(time.early()).toBe(1_000)
  })
})
