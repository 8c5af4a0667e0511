import { spawnSync } from 'node:child_process'
import { tool } from 'ai'
import { callsOf, type Clock, createHoldfast, memory, type Message, type Store } from 'holdfast'
import { systemClock } from '../../src/engine/clock.ts'
import { scriptedModel } from 'holdfast/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { typeStripping } from '../support/type-stripping.ts'

const threadId = 'thread-of-somebody'

async function lastTurn(store: Store) {
  const query = { threadId, limit: 1, before: null, live: 'include', results: 'full' } as const
  const last: Message | undefined = (await store.readPage(query))?.messages[0]
  if (last?.role !== 'assistant') throw new Error('there is no turn')
  return last
}

/** A server with one tool that wants an approval, and how often that ran. */
function openServer(store: Store) {
  const ran: string[] = []
  const holdfast = createHoldfast({
    store,
    model: scriptedModel(({ prompt }) =>
      prompt.at(-1)?.role === 'tool'
        ? [{ text: 'Done.' }]
        : [{ call: 'delete_note', input: { title: 'Tea' } }],
    ),
    tools: {
      delete_note: tool({
        inputSchema: z.object({ title: z.string() }),
        execute({ title }) {
          ran.push(title)
          return 'deleted'
        },
      }),
    },
    policies: { delete_note: { approval: 'always' } },
    recoverEveryMs: 0,
  })
  onTestFinished(() => holdfast.close())
  return { holdfast, ran }
}

const question = {
  threadId,
  create: { ownerId: 'ana', title: '' },
  message: { id: 'm1', parts: [{ type: 'text', text: 'Delete Tea.' }] },
} as const

/** What a job has: the store, and nothing that could answer. */
function openJob(store: Store) {
  const job = createHoldfast({ store, recoverEveryMs: 0 })
  onTestFinished(() => job.close())
  return job
}

describe('a process without a model', () => {
  it('[CR5a] leaves the turn of a server that died to a server that has one', async () => {
    const store = memory()
    const hanging = createHoldfast({
      store,
      model: scriptedModel(() => [{ text: 'It is ' }, { waitMs: 60_000 }, { text: 'late.' }]),
      recoverEveryMs: 0,
      textDelayMs: 0,
    })
    await hanging.send(question)
    await hanging.close({ graceMs: 0 })
    const job = openJob(store)
    expect(await job.recover()).toBe(0)
    const posted = await job.post(threadId, { role: 'user', parts: [{ type: 'text', text: 'x' }] })
    expect(posted.kind).toBe('run-active')
    expect((await lastTurn(store)).progress.status).toBe('running')
    const { holdfast } = openServer(store)
    expect(await holdfast.recover()).toBe(1)
    await holdfast.settled()
    expect((await lastTurn(store)).progress).toMatchObject({ status: 'waiting' })
  })

  it('[AP5] stores a decision, and a server that has one goes on with the call', async () => {
    const store = memory()
    const { holdfast, ran } = openServer(store)
    await holdfast.send(question)
    await holdfast.settled()
    const [call] = callsOf(await lastTurn(store))
    const job = openJob(store)
    const decisions = [{ toolCallId: call?.id ?? '', decision: 'accept' }] as const
    expect(await job.decide({ threadId, by: 'ana', decisions })).toEqual([{ kind: 'accepted' }])
    await job.settled()
    expect([ran, (await lastTurn(store)).progress.status]).toEqual([[], 'running'])
    expect(await holdfast.recover()).toBe(1)
    await holdfast.settled()
    expect(ran).toEqual(['Tea'])
    expect((await lastTurn(store)).progress).toMatchObject({ ending: { kind: 'completed' } })
  })

  it('[CR5a] ends such a turn where it stands in the way of a loop of its own', async () => {
    const store = memory()
    const hanging = createHoldfast({
      store,
      model: scriptedModel(() => [{ waitMs: 60_000 }]),
      recoverEveryMs: 0,
    })
    await hanging.send(question)
    await hanging.close({ graceMs: 0 })
    const job = openJob(store)
    const message = { id: 'm2', parts: [{ type: 'text', text: 'And now?' }] } as const
    const record = () =>
      job.record(
        (async function* () {
          yield 'Now.'
        })(),
        { threadId, message },
      )
    // The one that is in the way is ended first; whoever was refused asks again.
    const first = await record()
    const recorded = first.kind === 'recording' ? first : await record()
    expect(recorded.kind).toBe('recording')
  })
})

describe('a process that has nothing left to do', () => {
  const run = (code: string) =>
    spawnSync(
      process.execPath,
      [...typeStripping, '--conditions=holdfast-source', '--input-type=module', '-e', code],
      { encoding: 'utf8', timeout: 60_000, cwd: import.meta.dirname },
    )

  it.each(['memory()', 'sqlite(":memory:")'])(
    '[OP5] ends by itself, though nobody closed what it opened: %s',
    (store) => {
      const { status, stdout, stderr, signal } = run(`
        import { createHoldfast, memory } from 'holdfast'
        import { sqlite } from 'holdfast/sqlite'
        const holdfast = createHoldfast({ store: ${store} })
        await holdfast.threads.create({ id: 'a', ownerId: 'ana' })
        console.log((await holdfast.threads.list({ ownerId: 'ana' })).results.length)`)
      expect([stdout, status, signal]).toEqual(['1\n', 0, null])
      expect(stderr).not.toContain('Error')
    },
  )
})

describe('a module that is loaded to build an app', () => {
  /** The verbs of the store that are called when an engine is made and left alone. */
  async function verbsAtStart(): Promise<readonly string[]> {
    const called: string[] = []
    const store = new Proxy(memory(), {
      get(target, name, receiver) {
        const value: unknown = Reflect.get(target, name, receiver)
        if (typeof value !== 'function') return value
        return (...args: readonly unknown[]) => {
          called.push(String(name))
          return Reflect.apply(value, target, args) as unknown
        }
      },
    })
    const started = Promise.withResolvers<void>()
    const after: Clock['after'] = (ms, call) => {
      const timer = setTimeout(() => {
        call()
        started.resolve()
      }, ms)
      return () => clearTimeout(timer)
    }
    const holdfast = createHoldfast({ store, clock: { ...systemClock, after }, leaseMs: 300 })
    // The first look for dead runs, or else the first heartbeat.
    await started.promise
    await holdfast.close()
    return called
  }

  it('[CR5a] takes no run over while Next builds, and does when it serves', async () => {
    expect(await verbsAtStart()).toContain('findAbandonedRuns')
    vi.stubEnv('NEXT_PHASE', 'phase-production-build')
    onTestFinished(() => void vi.unstubAllEnvs())
    expect(await verbsAtStart()).not.toContain('findAbandonedRuns')
  })
})
