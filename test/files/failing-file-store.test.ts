import { tool } from 'ai'
import { callsOf, HoldfastError, memory, type Store } from 'holdfast'
import { type FileStore, s3Files } from 'holdfast/s3'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type Clock, systemClock } from '../../src/engine/clock.ts'
import { memoryFiles } from '../../src/files/memory-files.ts'
import { createFixture } from '../engine/fixture.ts'
import { settled } from '../support/scripted-clock.ts'

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ'
const bytes = Buffer.concat([Buffer.from(png, 'base64'), Buffer.alloc(20_000)])
const image = `data:image/png;base64,${bytes.toString('base64')}`
const draw = (ran: string[]) =>
  tool({
    inputSchema: z.object({}),
    execute: () => {
      ran.push('draw')
      return { image }
    },
  })

const broken = (write: FileStore['write']): FileStore => ({
  kind: 'broken',
  write,
  read: async () => null,
  remove: async () => undefined,
})
const away = {
  endpoint: 'http://127.0.0.1:1',
  bucket: 'chat',
  accessKeyId: 'key',
  secretAccessKey: 'secret',
}

/** The limit of a file store, what is left of half a minute, passes at once; nothing else here takes as long. */
const hurried: Clock = {
  ...systemClock,
  after: (ms, call, isBackground) =>
    systemClock.after(ms > 29_000 && ms <= 30_000 ? 0 : ms, call, isBackground),
}

async function start(store: FileStore, clock = hurried) {
  const ran: string[] = []
  const fixture = await createFixture(
    ({ index }) => (index === 0 ? [{ call: 'draw', input: {} }] : [{ text: 'Drawn.' }]),
    { tools: { draw: draw(ran) }, files: { store }, clock },
  )
  return { fixture, ran }
}

describe('a result with a file that the file store does not take', () => {
  it.each<readonly [string, () => FileStore]>([
    ['throws what is no error of ours', () => broken(() => Promise.reject(new Error('EIO')))],
    ['never answers', () => broken(() => new Promise<never>(() => {}))],
    ['is a bucket that cannot be reached', () => s3Files(away)],
    [
      'is a database that cannot be reached',
      () => broken(() => Promise.reject(new HoldfastError('store-unreachable', 'It is away.'))),
    ],
  ])('[FL1 CL5] is kept as it is, and the turn goes on: it %s', async (_, open) => {
    const { fixture, ran } = await start(open())
    const turn = await fixture.runTurn('go')
    expect(turn.progress).toMatchObject({ ending: { kind: 'completed' } })
    expect([...callsOf(turn)]).toMatchObject([
      { state: 'succeeded', output: { kind: 'inline', value: { image } } },
    ])
    expect(ran).toEqual(['draw'])
    expect(fixture.log.filter(({ type }) => type === 'failed')).toMatchObject([{ source: 'files' }])
  })
})

it('[FL1 ST1] a stop while a file is stored is reported as no failure of the file store', async () => {
  const writing = Promise.withResolvers<void>()
  const never = broken(() => {
    writing.resolve()
    return new Promise<never>(() => {})
  })
  // So long is waited for it once the run is interrupted.
  const isPatience = (ms: number) => ms > 1_000 && ms <= 2_000
  const { fixture } = await start(never, {
    ...systemClock,
    after: (ms, ...call) => systemClock.after(isPatience(ms) ? 0 : ms, ...call),
  })
  await fixture.send('go')
  await writing.promise
  await fixture.holdfast.stop(fixture.threadId)
  const turn = await fixture.last()
  expect(turn.progress).toMatchObject({ ending: { kind: 'stopped' } })
  expect([...callsOf(turn)]).toMatchObject([{ output: { kind: 'inline', value: { image } } }])
  expect(fixture.log.filter(({ type }) => type === 'failed')).toEqual([])
})

const unused = (store: Store) =>
  store.files?.claimUnused({ before: Number.MAX_SAFE_INTEGER, limit: 10 })

it('[FL1 FL2] a file that was given up and is stored all the same is collected', async () => {
  const mayWrite = Promise.withResolvers<void>()
  const inner = memoryFiles()
  const { fixture } = await start({
    ...inner,
    async write(...file: Parameters<FileStore['write']>) {
      await mayWrite.promise
      return inner.write(...file)
    },
  })
  const turn = await fixture.runTurn('go')
  expect([...callsOf(turn)]).toMatchObject([{ output: { kind: 'inline', value: { image } } }])
  mayWrite.resolve()
  await settled()
  expect(await fixture.store.files?.ownerBytes('owner')).toBe(bytes.byteLength)
  expect(await unused(fixture.store)).toHaveLength(1)
})

it('[FL1 FL2] a file is not collected between its upload and the commit of the result that it is in', async () => {
  const inner = memory()
  let now = Date.now()
  const collected: number[] = []
  const store: Store = {
    ...inner,
    async commit(group) {
      now += 60_000
      collected.push(await fixture.holdfast.files.collect())
      return inner.commit(group)
    },
  }
  const fixture = await createFixture(
    ({ index }) => (index === 0 ? [{ call: 'draw', input: {} }] : [{ text: 'Drawn.' }]),
    {
      store,
      tools: { draw: draw([]) },
      files: { store: memoryFiles(), keepUnusedMs: 0 },
      clock: { ...systemClock, now: () => now },
    },
  )
  const turn = await fixture.runTurn('go')
  const [call] = callsOf(turn)
  expect(call).not.toMatchObject({ output: { value: { image } } })
  expect(collected.every((count) => count === 0)).toBe(true)
  expect(await unused(store)).toEqual([])
})
