import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mkdtemp, rm } from 'node:fs/promises'
import { HoldfastError, memory, parseOwnerId, parseThreadId, type Store } from 'holdfast'
import { postgres } from 'holdfast/postgres'
import { sqlite } from 'holdfast/sqlite'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { pollUntil } from '../support/poll-until.ts'
import { createDatabase } from '../support/create-database.ts'
import { createFixture, messageId } from './fixture.ts'

const stores: readonly [string, () => Promise<Store>][] = [
  ['memory', () => Promise.resolve(memory())],
  [
    'sqlite',
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'holdfast-calls-'))
      onTestFinished(() => rm(folder, { recursive: true }))
      return sqlite(join(folder, 'chat.db'))
    },
  ],
  [
    'postgres',
    async () => {
      const database = await createDatabase(inject('postgresUrl'))
      onTestFinished(() => database.drop())
      return postgres(database.url)
    },
  ],
]

const message = messageId('turn-1')

/** Whoever is refused because the database stood still writes again, as they are told to: nothing was stored (LG3a). */
async function untilTaken<Result>(write: () => Promise<Result>): Promise<Result> {
  const written = await pollUntil(
    () =>
      write().then(
        (result) => ({ result }),
        (error: unknown) => {
          if (!(error instanceof HoldfastError && error.isTemporary)) throw error
          return null
        },
      ),
    (answer) => answer !== null,
    { what: 'the database to take a write' },
  )
  if (written === null) throw new Error('A write that was taken has a result.')
  return written.result
}

describe.each(stores)('the tool-call repository on %s', (_, open) => {
  const start = async () => {
    const store = await open()
    const fixture = await createFixture(() => [{ text: 'ok' }], { store })
    onTestFinished(async () => {
      await fixture.holdfast.close()
      await store.close()
    })
    const { threadId, holdfast } = fixture
    const { toolCalls } = holdfast
    const upsert = (callId: string, more: object = {}) =>
      toolCalls.upsert({
        threadId,
        messageId: message,
        callId,
        name: 'search',
        arguments: {},
        isPartial: false,
        ...more,
      })
    const list = async (include?: 'all') =>
      (await toolCalls.getByMessage(message, include)).toolCalls.map(
        ({ providerCallId, arguments: args, result, error, cause, state }) => ({
          id: providerCallId,
          args,
          result,
          error,
          cause,
          state,
        }),
      )
    return { ...fixture, store, toolCalls, upsert, list }
  }

  it('[CL11] takes the same call id again after it was cleaned up, as a new attempt', async () => {
    const { toolCalls, upsert, list } = await start()
    await upsert('done')
    await toolCalls.setResult(message, 'done', 1)
    await upsert('a', { arguments: { try: 1 } })
    await toolCalls.cleanupIncomplete(message)
    await upsert('a', { arguments: { try: 2 } })
    expect(await list()).toMatchObject([
      { id: 'done', state: 'succeeded' },
      { id: 'a', args: { try: 2 }, state: 'ready' },
    ])
    expect(await toolCalls.setResult(message, 'a', 'second')).toBe(true)
    await toolCalls.markAllComplete(message)
    // What has ended otherwise stays as it ended.
    await upsert('a', { arguments: { try: 3 } })
    await upsert('done', { arguments: { try: 3 } })
    expect(await list()).toMatchObject([
      { id: 'done', args: {}, result: 1 },
      { id: 'a', args: { try: 2 }, result: 'second' },
    ])
    expect(await list('all')).toMatchObject([
      { id: 'done' },
      { id: 'a', args: { try: 1 }, state: 'interrupted' },
      { id: 'a', args: { try: 2 }, state: 'succeeded' },
    ])
  })

  it('[CL11 LG9] takes undefined for null, and refuses what is not JSON, whole', async () => {
    const { toolCalls, upsert, list } = await start()
    await upsert('a', { arguments: undefined })
    expect(await toolCalls.setResult(message, 'a', undefined as never)).toBe(true)
    expect(await list()).toMatchObject([{ args: {}, result: null, state: 'succeeded' }])
    await upsert('b')
    const circular: Record<string, unknown> = {}
    circular['self'] = circular
    for (const value of [circular, 1n, { big: 1n }]) {
      await expect(toolCalls.setResult(message, 'b', value as never)).rejects.toMatchObject({
        code: 'bad-request',
      })
      await expect(upsert('c', { arguments: value })).rejects.toMatchObject({ code: 'bad-request' })
    }
    expect(await list()).toMatchObject([{ id: 'a' }, { id: 'b', state: 'ready' }])
  })

  it('[CL11] refuses ids that are none, a message of another thread, and a message of a person', async () => {
    const { store, toolCalls, upsert, runTurn, list } = await start()
    await upsert('a')
    const other = parseThreadId('thread-2')
    await store.createThread({ id: other, ownerId: parseOwnerId('owner'), title: '', at: 1 })
    await expect(upsert('b', { threadId: other })).rejects.toMatchObject({
      code: 'bad-request',
      message: expect.stringContaining('another thread') as string,
    })
    await expect(upsert('')).rejects.toMatchObject({ code: 'bad-id' })
    await expect(upsert('x'.repeat(201))).rejects.toMatchObject({ code: 'bad-id' })
    await expect(upsert('b', { messageId: '' })).rejects.toMatchObject({ code: 'bad-id' })
    await expect(upsert('b', { threadId: '' })).rejects.toMatchObject({ code: 'bad-id' })
    await expect(upsert('b', { threadId: 'nowhere' })).rejects.toMatchObject({
      code: 'thread-not-found',
    })
    await expect(upsert('b', { name: '' })).rejects.toMatchObject({ code: 'bad-request' })
    await expect(toolCalls.setResult(message, '', 1)).rejects.toMatchObject({ code: 'bad-id' })
    await expect(toolCalls.cleanupIncomplete('')).rejects.toMatchObject({ code: 'bad-id' })
    await expect(toolCalls.getByMessage('a\u0000b')).rejects.toMatchObject({ code: 'bad-id' })
    await toolCalls.markAllComplete(message)
    await runTurn('hello')
    await expect(upsert('b', { messageId: 'user-1' })).rejects.toMatchObject({
      code: 'bad-request',
      message: expect.stringContaining('a person') as string,
    })
    expect(await list()).toMatchObject([{ id: 'a' }])
  })

  it('[CL11 CL2] writes errors and their causes, and counts what comes after an end', async () => {
    const { toolCalls, upsert, list, holdfast } = await start()
    await upsert('a')
    await upsert('b')
    expect(await toolCalls.setError(message, 'a', 'no disk')).toBe(true)
    expect(await toolCalls.setError(message, 'b', 'too slow', 'timeout')).toBe(true)
    expect(await toolCalls.setError(message, 'b', 'again')).toBe(false)
    expect(await toolCalls.setResult(message, 'a', 1)).toBe(false)
    expect(await list('all')).toMatchObject([
      { id: 'a', state: 'failed', cause: 'tool-error', error: 'no disk' },
      { id: 'b', state: 'failed', cause: 'timeout', error: 'too slow' },
    ])
    expect(holdfast.metrics().ignoredEnds).toBe(2)
  })

  it('[CL11 HT6] shows people nothing of an error that was thrown: the model and the log have the reason', async () => {
    const { toolCalls, upsert, list, log } = await start()
    await upsert('a')
    const secret = 'connect postgres://admin:hunter2@10.0.0.7/prod'
    expect(await toolCalls.setError(message, 'a', new Error(secret), 'timeout')).toBe(true)
    const [call] = await list('all')
    expect(call).toMatchObject({ state: 'failed', cause: 'timeout' })
    expect(call?.error).toMatch(/^The tool failed\. \(error /)
    const failed = log.filter(({ type }) => type === 'failed')
    expect(failed).toMatchObject([{ source: 'tool', message: secret }])
  })

  it('[CL11] writes the text around the calls, and how the message ended', async () => {
    const fixture = await start()
    const { toolCalls, upsert, threadId } = fixture
    const place = { threadId, messageId: message }
    await toolCalls.appendText({ ...place, text: 'Let me ' })
    await toolCalls.appendText({ ...place, text: 'look.' })
    await upsert('a')
    await toolCalls.setResult(message, 'a', 1)
    await toolCalls.appendText({ ...place, text: 'Hm.', kind: 'reasoning' })
    await toolCalls.appendText({ ...place, text: 'Found.' })
    await toolCalls.markAllComplete(message)
    const turn = await fixture.last()
    expect(turn.steps[0]?.parts).toMatchObject([
      { type: 'text', text: 'Let me look.', state: 'done' },
      { type: 'call', state: 'succeeded' },
      { type: 'reasoning', text: 'Hm.', state: 'done' },
      { type: 'text', text: 'Found.', state: 'done' },
    ])
    expect(turn.progress).toMatchObject({ ending: { kind: 'completed' } })
    await upsert('b')
    expect(await toolCalls.fail(message, { code: 'backend', message: 'It is down.' })).toBe(true)
    expect((await fixture.last()).progress).toMatchObject({
      ending: { kind: 'failed', error: { code: 'backend', message: 'It is down.' } },
    })
    expect(await toolCalls.fail(message, 'again')).toBe(false)
  })

  it('[CL11] keeps one row and one result under 20 writers', async () => {
    const { toolCalls, upsert, list, holdfast } = await start()
    const writers = Array.from({ length: 20 }, (__, index) => index)
    await Promise.all(
      writers.map((index) => untilTaken(() => upsert('a', { arguments: { index } }))),
    )
    const set = await Promise.all(
      writers.map((index) => untilTaken(() => toolCalls.setResult(message, 'a', index))),
    )
    expect(set.filter(Boolean)).toHaveLength(1)
    expect(await list('all')).toMatchObject([{ result: set.indexOf(true) }])
    expect(holdfast.metrics().ignoredEnds).toBe(19)
  })
})
