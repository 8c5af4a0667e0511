import { tool } from 'ai'
import { callsOf, HoldfastError } from 'holdfast'
import { type FileStore, s3Files } from 'holdfast/s3'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type Clock, systemClock } from '../../src/engine/clock.ts'
import { createFixture } from '../engine/fixture.ts'

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

/** The limit of a file store passes at once; it is the only time of half a minute here. */
const hurried: Clock = {
  ...systemClock,
  after: (ms, call, isBackground) => systemClock.after(ms === 30_000 ? 0 : ms, call, isBackground),
}

async function start(store: FileStore) {
  const ran: string[] = []
  const fixture = await createFixture(
    ({ index }) => (index === 0 ? [{ call: 'draw', input: {} }] : [{ text: 'Drawn.' }]),
    { tools: { draw: draw(ran) }, files: { store }, clock: hurried },
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
