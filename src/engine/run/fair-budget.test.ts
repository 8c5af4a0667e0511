import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createFairBudget, type BudgetShare } from './fair-budget.ts'

/** Asks for shares by names such as `a1`, whose first letter is the key, and notes who has got one. */
function createScene(perKey: number, ofAll: number) {
  const budget = createFairBudget({ perKey, ofAll })
  const inside: string[] = []
  const shares = new Map<string, BudgetShare>()
  const requestShare = (name: string, size: number, signal = new AbortController().signal) => {
    const waiting = budget(name.slice(0, 1), size, signal).then((share) => {
      shares.set(name, share)
      inside.push(name)
    })
    waiting.catch(() => undefined)
    return waiting
  }
  const shareOf = (name: string) => shares.get(name) as BudgetShare
  return { requestShare, shareOf, inside }
}

describe('[OP7] a budget', () => {
  it('lets a key have so much, and whoever holds nothing enter whatever others hold', async () => {
    const { requestShare, inside } = createScene(10, 12)
    for (const [name, size] of [
      ['a1', 6],
      ['a2', 4],
      ['a3', 1],
      ['b1', 100],
      ['b2', 1],
    ] as const) {
      void requestShare(name, size)
    }
    await setImmediate()
    expect(inside).toEqual(['a1', 'a2', 'b1'])
  })

  it('has a bound for all', async () => {
    const { requestShare, inside, shareOf } = createScene(10, 12)
    void requestShare('a1', 6)
    void requestShare('b1', 5)
    void requestShare('a2', 2)
    await setImmediate()
    expect(inside).toEqual(['a1', 'b1'])
    shareOf('b1').resize(4)
    await setImmediate()
    expect(inside).toEqual(['a1', 'b1', 'a2'])
  })

  it('gives a key its shares in order, and does not let small ones pass a large one', async () => {
    const { requestShare, inside, shareOf } = createScene(10, 100)
    void requestShare('a1', 8)
    void requestShare('a2', 9)
    void requestShare('a3', 1)
    await setImmediate()
    expect(inside).toEqual(['a1'])
    shareOf('a1').release()
    shareOf('a1').release()
    await setImmediate()
    expect(inside).toEqual(['a1', 'a2', 'a3'])
    // Released once, however often: otherwise there would be room for this one too.
    void requestShare('a4', 1)
    await setImmediate()
    expect(inside).not.toContain('a4')
  })

  it('counts what a holder turns out to need, even over the limit, and nothing after its release', async () => {
    const { requestShare, inside, shareOf } = createScene(10, 100)
    await requestShare('a1', 2)
    shareOf('a1').resize(50)
    void requestShare('a2', 1)
    await setImmediate()
    expect(inside).toEqual(['a1'])
    shareOf('a1').release()
    shareOf('a1').resize(50)
    void requestShare('a3', 9)
    await setImmediate()
    expect(inside).toEqual(['a1', 'a2', 'a3'])
  })

  it('is left by whoever is stopped while waiting, and those behind it move up', async () => {
    const { requestShare, inside } = createScene(10, 100)
    const stop = new AbortController()
    void requestShare('a1', 8)
    const stopped = requestShare('a2', 9, stop.signal)
    void requestShare('a3', 2)
    await setImmediate()
    stop.abort(new Error('stopped'))
    await expect(stopped).rejects.toThrow('stopped')
    await setImmediate()
    expect(inside).toEqual(['a1', 'a3'])
    await expect(requestShare('b1', 1, stop.signal)).rejects.toThrow('stopped')
  })
})
