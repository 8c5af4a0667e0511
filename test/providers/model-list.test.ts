import { callsOf, type HoldfastOptions, type LifecycleEvent, type Turn } from 'holdfast'
import { describe, expect, it, onTestFinished } from 'vitest'
import { projectUiMessage } from '../../src/views/ui-message.ts'
import { createFixture, gate } from '../engine/fixture.ts'
import {
  refuse,
  type Reply,
  startModelServer,
  stream,
  streamAndBreak,
} from '../support/model-server.ts'
import { add, endingOf, outcomesOf, textOf } from './number-tools.ts'
import { type Provider, providers } from './providers.ts'
import type { WireItem } from './wire.ts'

type Replies = readonly Reply[] | 'unreachable'

/** Two models behind two servers: what the first does wrong, and the second that answers. */
async function open(
  provider: Provider,
  wrong: Replies,
  options: Partial<HoldfastOptions> = {},
  right: readonly Reply[] = [],
) {
  const servers = [await startModelServer(), await startModelServer()] as const
  const [first, second] = servers
  onTestFinished(() => second.close())
  if (wrong === 'unreachable') await first.close()
  else {
    onTestFinished(() => first.close())
    first.reply(...wrong)
  }
  const answer = stream(...provider.wire.frames([{ text: ['All ', 'good.'] }], 'stop'))
  second.reply(...right, answer, answer)
  const model = servers.map(({ url }) => provider.model({ url }))
  const fixture = await createFixture(() => [], {
    maxRetries: 0,
    ...options,
    model,
    tools: { add },
  })
  onTestFinished(() => fixture.holdfast.close())
  return { ...fixture, first, second }
}

const said = { text: ['Let me ', 'see. '] } as const
const whole = { call: { id: 'call_1', name: 'add', input: ['{"left":1,', '"right":2}'] } } as const
const half = { call: { id: 'call_2', name: 'add', input: ['{"left":'] }, open: true } as const

const failuresOf = (turn: Turn) =>
  (projectUiMessage(turn)?.metadata as { modelFailures?: readonly object[] } | undefined)
    ?.modelFailures
const replacedIn = (log: readonly LifecycleEvent[]) =>
  log.flatMap((event) => (event.type === 'model-replaced' ? [event.code] : []))

describe.each(providers)('$name', (provider) => {
  const frames = (...items: readonly WireItem[]) => provider.wire.frames(items, 'nothing')
  const refusal = (status: number, type: string) => refuse(status, provider.errorBody(type, 'No.'))
  const error = provider.wire.errorFrame({ type: 'server_error', message: 'It broke.' })

  const silent: Readonly<Record<string, readonly [Replies, string]>> = {
    'cannot be reached': ['unreachable', 'network'],
    'refuses the key': [[refusal(401, 'authentication_error')], 'not-authorised'],
    'is asked too much': [[refusal(429, 'rate_limit_error')], 'rate-limited'],
    'has a problem': [[refusal(500, 'server_error')], 'provider-down'],
    'does not know the model': [[refusal(404, 'not_found_error')], 'model-error'],
    'is sent too much': [
      [refuse(provider.overflow.status, provider.overflow.body)],
      'context-overflow',
    ],
    'ends before its first word': [[stream(...frames())], 'stream-cut'],
    'breaks before its first word': [[streamAndBreak(frames(), Promise.resolve())], 'stream-cut'],
    'says an error before its first word': [[stream(...frames(), error)], 'provider-down'],
  }
  for (const [name, [wrong, code]] of Object.entries(silent)) {
    it(`[AG5] a model that ${name} is replaced by the next, silently`, async () => {
      const { runTurn, log } = await open(provider, wrong)
      const turn = await runTurn('hi')
      expect(endingOf(turn)).toEqual({ kind: 'completed' })
      expect(textOf(turn)).toEqual(['All good.'])
      expect(turn.steps).toHaveLength(1)
      const [replaced] = turn.steps[0]?.replaced ?? []
      // How a connection breaks that was never answered is told by the machine.
      const codes = code === 'stream-cut' ? ['stream-cut', 'network'] : [code]
      expect(codes).toContain(replaced?.error.code)
      expect(replacedIn(log)).toEqual([replaced?.error.code])
      expect(failuresOf(turn)).toMatchObject([{ step: 0, code: replaced?.error.code }])
    })
  }

  it('[AG5] is tried again before the next one is, and not asked again in this run', async () => {
    const busy = () => refuse(429, provider.errorBody('rate_limit_error', 'Slow down.'))
    const call = stream(...provider.wire.frames([whole], 'tool-calls'))
    const fixture = await open(provider, [busy(), busy(), busy()], { maxRetries: 2 }, [call])
    const turn = await fixture.runTurn('Add 1 and 2')
    expect(outcomesOf(turn)).toEqual(['succeeded'])
    expect(textOf(turn).at(-1)).toBe('All good.')
    expect([fixture.first.requests.length, fixture.second.requests.length]).toEqual([3, 2])
    expect(turn.steps.map(({ replaced = [] }) => replaced.length)).toEqual([1, 0])
  })

  it('[AG5] that hangs is replaced when its time is over, before and in its answer', async () => {
    const never = gate().opened
    const before = await open(provider, [streamAndBreak([], never)], {
      timeout: { firstChunkMs: 100 },
    })
    const turn = await before.runTurn('hi')
    expect(replacedIn(before.log)).toContain('timed-out')
    expect(turn.steps[0]?.replaced).toMatchObject([{ error: { code: 'timed-out' } }])
    const inside = [streamAndBreak(frames({ text: ['Well, '], open: true }), never)]
    const after = await open(provider, inside, { timeout: { chunkMs: 100 } })
    const broken = await after.runTurn('hi')
    expect(broken.steps[0]).toMatchObject({ status: 'abandoned', error: { code: 'timed-out' } })
    expect(textOf(broken)[0]).toBe('Well, ')
  })

  it('[AG5 AG8] that breaks off in its text stays visible as a broken attempt', async () => {
    const fixture = await open(provider, [stream(...frames(said), error)])
    const turn = await fixture.runTurn('hi')
    expect(endingOf(turn)).toEqual({ kind: 'completed' })
    expect(turn.steps.map(({ status }) => status)).toEqual(['abandoned', 'ended'])
    const parts = projectUiMessage(turn)?.parts.filter(({ type }) => type === 'text')
    expect(parts).toMatchObject([
      { text: 'Let me see. ', providerMetadata: { holdfast: { attempt: 'abandoned' } } },
      { text: 'All good.' },
    ])
    expect(failuresOf(turn)).toMatchObject([{ step: 0, code: 'provider-down' }])
    expect(replacedIn(fixture.log)).toEqual(['provider-down'])
    // The other model begins anew, and is not told what the first had said.
    const { problems, said: lines } = provider.readPrompt(fixture.second.requests[0]?.body)
    expect([problems, lines]).toEqual([[], ['user: hi']])
  })

  it('[AG5 CL3] that breaks off in a call: neither half a call nor a whole one runs', async () => {
    const fixture = await open(provider, [stream(...frames(said, whole, half), error)])
    const turn = await fixture.runTurn('Add 1 and 2')
    expect(endingOf(turn)).toEqual({ kind: 'completed' })
    expect(outcomesOf(turn)).toEqual(Array(2).fill('interrupted: stream-failed'))
    expect([...callsOf(turn)].every(({ startedAt }) => startedAt === undefined)).toBe(true)
    expect(textOf(turn).at(-1)).toBe('All good.')
    expect(provider.readPrompt(fixture.second.requests[0]?.body).problems).toEqual([])
  })

  it('[AG5] whose request was refused as wrong is not replaced: it would be wrong for any', async () => {
    const { runTurn, second, log } = await open(provider, [refusal(400, 'invalid_request_error')])
    expect(endingOf(await runTurn('hi'))).toMatchObject({ kind: 'failed' })
    expect([second.requests.length, replacedIn(log)]).toEqual([0, []])
  })

  it('[AG5 ST1] that is stopped is not replaced', async () => {
    const never = gate().opened
    const wrong = [streamAndBreak(frames({ text: ['Well, '], open: true }), never)]
    const fixture = await open(provider, wrong)
    await fixture.send('hi')
    await fixture.until(({ messages }) => JSON.stringify(messages).includes('Well'))
    await fixture.holdfast.stop(fixture.threadId)
    await fixture.holdfast.settled()
    expect(endingOf(await fixture.last())).toEqual({ kind: 'stopped' })
    expect(fixture.second.requests).toHaveLength(0)
  })

  it('[AG5] fails as the last one does where all do', async () => {
    const fixture = await open(provider, 'unreachable', {}, [refusal(401, 'authentication_error')])
    const turn = await fixture.runTurn('hi')
    expect(endingOf(turn)).toMatchObject({ kind: 'failed', error: { code: 'not-authorised' } })
    expect(turn.steps[0]?.replaced).toMatchObject([{ error: { code: 'network' } }])
  })
})
