import { expect, it } from 'vitest'
import { createScriptedClock, settled } from '../../../test/support/scripted-clock.ts'
import { createHostPatience } from './host-patience.ts'
import { inWrapper } from './in-wrapper.ts'

type Wrap = (work: () => Promise<string>) => unknown
const never = () => new Promise<never>(() => {})
const fails = () => Promise.reject(new Error('tool'))

function open(wrap: Wrap, work: () => Promise<string>) {
  const clock = createScriptedClock()
  const run = new AbortController()
  const patience = createHostPatience(clock, run.signal)
  let begun = 0
  const counted = () => {
    begun++
    return work()
  }
  const seen: { outcome?: unknown } = {}
  const faults: string[] = []
  const onFault = (thrown: unknown) => void faults.push((thrown as Error).message)
  void inWrapper({ clock, patience, onFault }, wrap, counted).then(
    (value) => (seen.outcome = value),
    (error: unknown) => (seen.outcome = (error as Error).message),
  )
  return { clock, run, seen, faults, begun: () => begun }
}

it.each<[string, Wrap]>([
  ['returns what it was given', async (work) => work()],
  ['returns something else', async (work) => void (await work())],
  ['returns before the work has ended', (work) => void work()],
  [
    'throws after',
    async (work) => {
      await work()
      throw new Error('tracer')
    },
  ],
  ['begins it twice', async (work) => Promise.all([work(), work()])],
])('[CL5 CL12] a wrapper that %s leaves the work as it is, done once', async (_, wrap) => {
  const done = open(wrap, async () => 'done')
  await settled()
  expect([done.seen.outcome, done.begun(), done.clock.timers()]).toEqual(['done', 1, []])
  const failed = open(wrap, fails)
  await settled()
  expect([failed.seen.outcome, failed.begun(), failed.clock.timers()]).toEqual(['tool', 1, []])
})

it.each<[string, Wrap, string]>([
  [
    'throws at once',
    () => {
      throw new Error('not permitted')
    },
    'not permitted',
  ],
  ['throws before', async () => Promise.reject(new Error('not permitted')), 'not permitted'],
  ['does not begin it', () => 'x', 'What is around steps and calls did not run this one.'],
])('[CL5] work whose wrapper %s is not done', async (_, wrap, error) => {
  const { seen, begun, clock } = open(wrap, async () => 'done')
  await settled()
  expect([seen.outcome, begun(), clock.timers()]).toEqual([error, 0, []])
})

it.each<[string, Wrap, readonly string[], readonly string[]]>([
  ['passes on what the work threw', async (work) => work(), [], []],
  [
    'throws while it works',
    (work) => {
      void work().catch(() => undefined)
      throw new Error('tracer')
    },
    ['tracer'],
    ['tracer'],
  ],
  [
    'throws after',
    async (work) => {
      await work().catch(() => undefined)
      throw new Error('tracer')
    },
    ['tracer'],
    ['tracer'],
  ],
])('[HT6] a wrapper that %s: its fault is reported', async (_, wrap, ofDone, ofFailed) => {
  const done = open(wrap, async () => 'done')
  const failed = open(wrap, fails)
  await settled()
  expect([done.seen.outcome, done.faults]).toEqual(['done', ofDone])
  expect([failed.seen.outcome, failed.faults]).toEqual(['tool', ofFailed])
})

it('[HT6] a wrapper that was left and throws then: its fault is reported', async () => {
  const late = Promise.withResolvers<never>()
  const wrap: Wrap = async (work) => work().then(() => late.promise)
  const { clock, seen, faults } = open(wrap, async () => 'done')
  await clock.advance(2_000)
  expect([seen.outcome, faults]).toEqual(['done', []])
  late.reject(new Error('tracer'))
  await settled()
  expect(faults).toEqual(['tracer'])
})

it('[CL5] a wrapper that never ends is left two seconds after the work', async () => {
  const { clock, seen } = open(
    async (work) => {
      await work()
      await never()
    },
    async () => 'done',
  )
  await clock.advance(1_999)
  expect(seen).toEqual({})
  await clock.advance(1)
  expect(seen.outcome).toBe('done')
})

it('[ST1] a wrapper that never begins the work is left two seconds after the run was interrupted, and begins nothing then', async () => {
  let late: Promise<string> | undefined
  const waiting = Promise.withResolvers<void>()
  const { clock, run, seen, begun } = open(
    async (work) => {
      await waiting.promise
      late = work()
      return late
    },
    async () => 'done',
  )
  await clock.advance(60_000)
  expect(seen).toEqual({})
  run.abort(new Error('stopped'))
  await clock.advance(2_000)
  expect(seen.outcome).toBe('stopped')
  waiting.resolve()
  await settled()
  await expect(late).rejects.toThrow('over')
  expect(begun()).toBe(0)
})

it('[LG3] work that has begun is waited for, also of a run that was interrupted', async () => {
  const work = Promise.withResolvers<string>()
  const { clock, run, seen } = open(
    (begin) => begin(),
    () => work.promise,
  )
  run.abort(new Error('stopped'))
  await clock.advance(60_000)
  expect(seen).toEqual({})
  work.resolve('stored')
  await settled()
  expect(seen.outcome).toBe('stored')
})
