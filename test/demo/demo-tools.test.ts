import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Tool } from 'ai'
import { createDemoTools, type DemoToolsOptions, folderNotes, memoryNotes } from 'holdfast/demo'
import { describe, expect, it, onTestFinished } from 'vitest'

async function freshFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-demo-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

async function run(options: DemoToolsOptions, name: string, input: object): Promise<unknown> {
  const { tools } = createDemoTools({ wait: () => Promise.resolve(), ...options })
  const { execute } = tools[name] as Tool
  const context = { toolCallId: 'call-1', messages: [], context: undefined as never }
  return execute?.(input, context)
}

describe('the demo tools', () => {
  it('are all repeatable but for deleting and charging, and only deleting asks', () => {
    const { tools, policies } = createDemoTools()
    expect(Object.keys(policies)).toEqual(Object.keys(tools))
    const named = (fits: (name: string) => boolean) => Object.keys(policies).filter(fits)
    expect(named((name) => policies[name]?.repeatable !== true)).toEqual([
      'delete_note',
      'charge_card',
    ])
    expect(named((name) => policies[name]?.approval === 'always')).toEqual(['delete_note'])
    expect(named((name) => policies[name]?.version !== '1')).toEqual([])
  })

  it('give the same made-up data every time, and say that it is made up', async () => {
    for (const [name, input] of [
      ['get_weather', { city: 'Paris' }],
      ['get_stock', { ticker: 'ACME' }],
      ['get_afl_code', { subject: 'a breakout' }],
    ] as const) {
      const first = await run({}, name, input)
      expect(first).toMatchObject({ version: '1', source: 'demo data, not real' })
      expect(await run({}, name, input)).toEqual(first)
    }
    expect(await run({}, 'get_stock', { ticker: 'acme' })).toHaveProperty('history.length', 30)
    expect(await run({ now: () => 0 }, 'get_time', { city: 'Tokyo' })).toMatchObject({
      localTime: '09:00',
      timeZone: 'Asia/Tokyo',
    })
  })

  it('append one line per charge to a file', async () => {
    const file = join(await freshFolder(), 'charges.log')
    await run({ charges: file, now: () => 0 }, 'charge_card', { amount: 1, currency: 'EUR' })
    await run({ charges: file, now: () => 0 }, 'charge_card', { amount: 2, currency: 'EUR' })
    const lines = (await readFile(file, 'utf8')).trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      { callId: 'call-1', amount: 1, currency: 'EUR', chargedAt: '1970-01-01T00:00:00.000Z' },
      { callId: 'call-1', amount: 2, currency: 'EUR', chargedAt: '1970-01-01T00:00:00.000Z' },
    ])
  })

  it('charge before they wait, so that a process that dies has left its line', async () => {
    const charges: string[] = []
    let seen = 0
    const wait = () => {
      seen = charges.length
      return Promise.resolve()
    }
    await run({ charges, wait }, 'charge_card', { amount: 1, currency: 'EUR' })
    expect(seen).toBe(1)
  })
})

describe.each([
  ['in memory', () => Promise.resolve(memoryNotes())],
  ['in a folder', async () => folderNotes(join(await freshFolder(), 'notes'))],
])('notes %s', (_, open) => {
  it('begin with five, are found without regard to case, and stay deleted', async () => {
    const notes = await open()
    const titles = async () => (await notes.list()).map(({ title }) => title).toSorted()
    expect(await titles()).toEqual(['Groceries', 'Ideas', 'Meeting', 'Reading', 'Travel'])
    expect(await run({ notes }, 'read_note', { title: 'travel' })).toMatchObject({
      title: 'Travel',
    })
    expect(await run({ notes }, 'delete_note', { title: 'TRAVEL' })).toMatchObject({
      title: 'Travel',
      deleted: true,
    })
    expect(await titles()).toEqual(['Groceries', 'Ideas', 'Meeting', 'Reading'])
    await expect(run({ notes }, 'delete_note', { title: 'Travel' })).rejects.toThrow('no note')
    await expect(run({ notes }, 'read_note', { title: '../x' })).rejects.toThrow('no note')
  })

  it('[FK6] are written, and again in the place of what was there', async () => {
    const notes = await open()
    for (const text of ['One cup', 'Two cups a day']) {
      const written = await run({ notes }, 'write_note', { title: 'Green tea', text })
      expect(written).toMatchObject({ title: 'Green tea', words: text.split(' ').length })
    }
    await run({ notes }, 'write_note', { title: 'TRAVEL', text: 'By ship' })
    expect(await notes.list()).toHaveLength(6)
    expect(await run({ notes }, 'read_note', { title: 'green TEA' })).toMatchObject({
      text: 'Two cups a day',
    })
    expect(await run({ notes }, 'read_note', { title: 'travel' })).toMatchObject({
      text: 'By ship',
    })
  })

  it.each(['../up', 'a/b', '.hidden', 'C:\\x', '', ' ', 'x'.repeat(81), 'a\u0000b'])(
    '[FK6] are not written under a title that is no plain name: %j',
    async (title) => {
      const notes = await open()
      await expect(run({ notes }, 'write_note', { title, text: 'x' })).rejects.toThrow('title')
      expect(await notes.list()).toHaveLength(5)
    },
  )
})

it('notes in a folder are the same after a restart', async () => {
  const folder = join(await freshFolder(), 'notes')
  await folderNotes(folder).remove('Ideas')
  expect(await folderNotes(folder).list()).toHaveLength(4)
})
