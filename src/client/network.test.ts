import { afterEach, describe, expect, it, vi } from 'vitest'
import { createScriptedClock, settled } from '../../test/support/scripted-clock.ts'
import { browserConnectivity, type Connectivity, createNetwork, systemClock } from './network.ts'

function open() {
  const clock = createScriptedClock()
  const watchers = new Set<() => void>()
  let isOnline = true
  const connectivity: Connectivity = {
    isOnline: () => isOnline,
    watch(onChange) {
      watchers.add(onChange)
      return () => void watchers.delete(onChange)
    },
  }
  const setOnline = (next: boolean) => {
    isOnline = next
    for (const onChange of [...watchers]) onChange()
  }
  const leftOver = () => [clock.timers(), watchers.size]
  return { clock, network: createNetwork(clock, connectivity), setOnline, leftOver }
}
const nothingLeft = [[], 0]

describe('a wait', () => {
  const cases: Readonly<
    Record<string, (opened: ReturnType<typeof open>, stop: AbortController) => unknown>
  > = {
    'when the time is over': ({ clock }) => clock.advance(1),
    'when the network comes back': ({ setOnline }) => setOnline(true),
    'when nobody waits any more': (_, stop) => stop.abort(),
  }
  it.each(Object.entries(cases))('[RS8] ends %s, and leaves nothing', async (_, end) => {
    const opened = open()
    const stop = new AbortController()
    let isOver = false
    void opened.network.wait(1_000, stop.signal).then(() => (isOver = true))
    await opened.clock.advance(999)
    opened.setOnline(false)
    await settled()
    expect(isOver).toBe(false)
    await end(opened, stop)
    await settled()
    expect([isOver, opened.leftOver()]).toEqual([true, nothingLeft])
  })

  it('[RS8] with an aborted signal ends at once', async () => {
    const { network, leftOver } = open()
    await network.wait(1_000, AbortSignal.abort())
    expect(leftOver()).toEqual(nothingLeft)
  })
})

describe('a guard', () => {
  it('[RS8] cuts after 45 s of silence, or when the device goes offline', async () => {
    for (const cut of ['silence', 'offline'] as const) {
      const { network, clock, setOnline, leftOver } = open()
      let cuts = 0
      const guard = network.guard(() => cuts++)
      await clock.advance(44_999)
      guard.heard()
      setOnline(true)
      await clock.advance(44_999)
      expect(cuts).toBe(0)
      if (cut === 'silence') await clock.advance(1)
      else setOnline(false)
      expect(cuts).toBe(1)
      guard.release()
      expect(leftOver()).toEqual(nothingLeft)
    }
  })
})

describe('a browser', () => {
  afterEach(() => vi.unstubAllGlobals())

  it('[RS8] reports when it goes offline and comes back, until unsubscribed', () => {
    const target = new EventTarget()
    vi.stubGlobal('addEventListener', target.addEventListener.bind(target))
    vi.stubGlobal('removeEventListener', target.removeEventListener.bind(target))
    vi.stubGlobal('navigator', { onLine: false })
    let changes = 0
    const unwatch = browserConnectivity.watch(() => changes++)
    target.dispatchEvent(new Event('offline'))
    expect(browserConnectivity.isOnline()).toBe(false)
    target.dispatchEvent(new Event('online'))
    unwatch()
    target.dispatchEvent(new Event('online'))
    expect(changes).toBe(2)
  })

  it('[RS8] is not needed: without one the device counts as online', () => {
    vi.stubGlobal('navigator', undefined)
    expect(browserConnectivity.isOnline()).toBe(true)
    browserConnectivity.watch(() => {})()
  })

  it('[RS8] has a clock whose timers can be cancelled', async () => {
    const called: string[] = []
    systemClock.after(0, () => called.push('cancelled'))()
    await new Promise<void>((resolve) => {
      systemClock.after(1, resolve)
    })
    expect(called).toEqual([])
    expect(systemClock.now()).toBeGreaterThan(1_700_000_000_000)
  })
})
