import { setImmediate } from 'node:timers/promises'
import { type LanguageModel, tool } from 'ai'
import {
  type Agent,
  type AgentOption,
  callsOf,
  type HoldfastOptions,
  memory,
  type TurnScope,
} from 'holdfast'
import { scriptedModel } from 'holdfast/testing'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createScriptedClock } from '../support/scripted-clock.ts'
import { call, createFixture, echo, gate, type Script, statesOf, textOf } from './fixture.ts'

const textOnly: Script = () => [{ text: 'Done.' }]
/** Calls `echo` in its first step, and is done in its second. */
const callOnce: Script = ({ index }) => (index === 0 ? [call(1)] : [{ text: 'Done.' }])

const withAgent = (agent: AgentOption, options: Partial<HoldfastOptions> = {}) =>
  createFixture(textOnly, { ...options, agent })

describe('an agent that is a function', () => {
  it('[AG1] is asked for each turn with whose turn it is, and answers with its own model', async () => {
    const scopes: TurnScope[] = []
    const asked: string[] = []
    const { runTurn, threadId } = await withAgent(async (scope) => {
      scopes.push(scope)
      const model = scriptedModel(() => [{ text: `Hello ${scope.ownerId}.` }], {
        onCall: ({ prompt }) => asked.push(String(prompt[0]?.content)),
      })
      return { model, instructions: `Of ${scope.ownerId}.` }
    })
    const turn = await runTurn('hi')
    expect(textOf(turn)).toEqual(['Hello owner.'])
    expect(asked).toEqual(['Of owner.'])
    const scope = { ownerId: 'owner', threadId, turnId: turn.id, choices: undefined }
    expect(scopes).toEqual([{ ...scope, reason: 'begin' }])
  })

  it('[AG1 AP5] is asked again when the turn goes on after a decision, and on continue', async () => {
    const reasons: string[] = []
    const model = scriptedModel(callOnce)
    const { runTurn, holdfast, threadId, last } = await withAgent(({ reason }) => {
      reasons.push(reason)
      return { model, tools: { echo }, policies: { echo: { approval: 'always' } } }
    })
    const [waiting] = callsOf(await runTurn('hi'))
    const decisions = [{ callId: waiting!.id, decision: 'accept' as const }]
    expect(await holdfast.decide({ threadId, by: 'me', decisions })).toEqual([{ kind: 'accepted' }])
    await holdfast.settled()
    expect([statesOf(await last()), reasons]).toEqual([['succeeded'], ['begin', 'resume']])
  })

  it('[AG1] gives the settings of the call flat, as streamText has them', async () => {
    const sent: unknown[] = []
    const inner = scriptedModel(textOnly) as Exclude<LanguageModel, string>
    const model = {
      ...inner,
      doStream: (options: never) => {
        sent.push(options)
        return inner.doStream(options) as never
      },
    } as Agent['model']
    const { runTurn } = await withAgent(() => ({ model, temperature: 0.2, maxOutputTokens: 7 }))
    await runTurn('hi')
    expect(sent).toEqual([expect.objectContaining({ temperature: 0.2, maxOutputTokens: 7 })])
  })
})

const model = scriptedModel(textOnly)
const nonsense: readonly (readonly [string, () => unknown, string])[] = [
  ['throws', () => thrown(new Error('no such user')), 'no such user'],
  ['throws later', () => Promise.reject(new Error('the users are away')), 'the users are away'],
  ['throws nothing', () => thrown(undefined), 'it gave no reason'],
  ['gives nothing', () => undefined, 'agent takes an object of options, not undefined.'],
  ['gives no model', () => ({}), 'agent needs the option "model"'],
  ['gives a model that is none', () => ({ model: {} }), 'the option "model" must be'],
  ['has a wrong name', () => ({ model, temprature: 1 }), 'Did you mean "temperature"?'],
  ['has a wrong tool', () => ({ model, tools: { a: {} } }), 'has no "inputSchema"'],
  ['speaks of no tool', () => ({ model, policies: { a: {} } }), 'speaks of the tool "a"'],
]

describe('an agent that cannot be had', () => {
  it.each(nonsense)('[AG1] %s: the turn fails, and can be continued', async (_, agent, why) => {
    let isMended = false
    const { runTurn, log, holdfast, threadId, last, messages } = await withAgent(() =>
      isMended ? { model } : (agent() as Agent),
    )
    const turn = await runTurn('hi')
    const message = `This answer could not be prepared. (error ${turn.id.slice(-8)})`
    const error = { code: 'agent-failed', message }
    expect(turn.progress).toMatchObject({ status: 'ended', ending: { kind: 'failed', error } })
    const failed = log.find(({ type }) => type === 'failed')
    expect(failed).toMatchObject({ source: 'agent', code: 'agent-failed', ownerId: 'owner' })
    expect(failed?.type === 'failed' && failed.message).toContain(why)
    expect(log.at(-1)).toMatchObject({ type: 'turn-ended', ending: 'failed', error })
    isMended = true
    expect(await holdfast.continue(threadId)).toMatchObject({ kind: 'continued', turnId: turn.id })
    await holdfast.settled()
    expect(textOf(await last())).toEqual(['Done.'])
    expect(await messages()).toHaveLength(2)
  })

  it('[AG1] is waited for as long as agentTimeoutMs says, and not by stop', async () => {
    const clock = createScriptedClock()
    const asked = gate()
    const never = new Promise<Agent>(() => {})
    const agent = () => {
      asked.open()
      return never
    }
    const options = { agent, agentTimeoutMs: 500, clock }
    const { send, holdfast, last, threadId } = await createFixture(textOnly, options)
    await send('hi')
    await asked.opened
    await clock.advance(500)
    await holdfast.settled()
    expect((await last()).progress).toMatchObject({ ending: { error: { code: 'agent-failed' } } })
    await send('again')
    expect(await holdfast.stop(threadId)).toEqual({ kind: 'stopped', held: 0 })
    expect((await last()).progress).toMatchObject({ ending: { kind: 'stopped' } })
  })

  it('[AG1] is not waited for by a stop that comes in the moment before it is asked', async () => {
    const store = memory()
    const { runTurn } = await withAgent(() => thrown(new Error('away')), { store })
    await runTurn('hi')
    const begun = gate()
    const goOn = gate()
    // Defaults of a turn that was stored without choices: read when its run begins, before the agent is asked.
    const choices = z.object({}).transform(async () => {
      begun.open()
      await goOn.opened
      return {}
    })
    let asked = 0
    const agent = () => {
      asked++
      return new Promise<Agent>(() => {})
    }
    // A clock that stands still: whoever waits for `agentTimeoutMs` waits for ever.
    const clock = createScriptedClock()
    const { holdfast, last, threadId } = await createFixture(textOnly, {
      store,
      agent,
      choices,
      clock,
    })
    expect(await holdfast.continue(threadId)).toMatchObject({ kind: 'continued' })
    await begun.opened
    const stopped = holdfast.stop(threadId)
    // Its request has reached the run when everything that is due has been done.
    await setImmediate()
    goOn.open()
    expect(await stopped).toEqual({ kind: 'stopped', held: 0 })
    expect((await last()).progress).toMatchObject({ ending: { kind: 'stopped' } })
    expect(asked).toBe(0)
  })

  it('[AG1 HT6] is shown to clients in the words of errorText', async () => {
    const { runTurn } = await withAgent(() => thrown(new Error('secret')), {
      errorText: (_, { source, message }) => `${source}: ${message}`,
    })
    expect((await runTurn('hi')).progress).toMatchObject({
      ending: { error: { message: 'agent: secret' } },
    })
  })

  it('[AG1 AP2] takes nothing back: a decision is stored, and the call is shown as broken off', async () => {
    let isAway = false
    const scripted = scriptedModel(callOnce)
    const { runTurn, holdfast, threadId, last } = await withAgent(() => {
      if (isAway) throw new Error('away')
      return { model: scripted, tools: { echo }, policies: { echo: { approval: 'always' } } }
    })
    const [waiting] = callsOf(await runTurn('hi'))
    isAway = true
    const decision = { callId: waiting!.id, decision: 'accept' as const }
    const edited = { ...decision, args: { value: 2 } }
    // Only the agent has the schema of other arguments: nothing is stored that was not checked.
    await expect(
      holdfast.decide({ threadId, by: 'me', decisions: [edited] }),
    ).rejects.toMatchObject({ code: 'agent-failed' })
    expect(statesOf(await last())).toEqual(['awaiting-approval'])
    expect(await holdfast.decide({ threadId, by: 'me', decisions: [decision] })).toEqual([
      { kind: 'accepted' },
    ])
    await holdfast.settled()
    const turn = await last()
    expect(turn.progress).toMatchObject({ ending: { error: { code: 'agent-failed' } } })
    const [ended] = callsOf(turn)
    expect(ended).toMatchObject({ state: 'interrupted', decision: { kind: 'accepted', by: 'me' } })
    isAway = false
    await holdfast.continue(threadId)
    await holdfast.settled()
    expect(textOf(await last())).toEqual(['Done.'])
  })
})

describe('tools of an agent', () => {
  it('[AG6] that are gone when their call is resumed fail it, and nothing runs in their place', async () => {
    const ran: string[] = []
    const named = (who: string) =>
      tool({ inputSchema: z.object({ value: z.unknown() }), execute: () => ran.push(who) })
    let offered: Agent['tools'] = { echo: named('old'), other: named('other') }
    const scripted = scriptedModel(callOnce)
    const { runTurn, holdfast, threadId, last } = await withAgent(() => ({
      model: scripted,
      tools: offered ?? {},
      toolApproval: () => 'user-approval',
    }))
    const [waiting] = callsOf(await runTurn('hi'))
    offered = { other: named('other') }
    const decisions = [{ callId: waiting!.id, decision: 'accept' as const }]
    await holdfast.decide({ threadId, by: 'me', decisions })
    await holdfast.settled()
    const [ended] = callsOf(await last())
    expect(ended).toMatchObject({ state: 'failed', cause: 'unknown-tool' })
    expect(ran).toEqual([])
  })

  it('[AG1 CL1] a client runs the tools that have no execute, also beside one that is decided on', async () => {
    const ask_user = tool({ inputSchema: z.object({}), outputSchema: z.string() })
    const scripted = scriptedModel(({ index }) =>
      index === 0 ? [{ call: 'ask_user', input: {} }, call(1)] : [{ text: 'Done.' }],
    )
    const store = memory()
    const { runTurn, holdfast, threadId, last } = await withAgent(
      () => ({
        model: scripted,
        tools: { echo, ask_user },
        policies: { echo: { approval: 'always' }, ask_user: { approval: 'always' } },
      }),
      { store },
    )
    const [client, server] = [...callsOf(await runTurn('hi'))].map(({ id }) => id)
    const accept = async (callId: typeof client) => {
      const decisions = [{ callId: callId!, decision: 'accept' as const }]
      await holdfast.decide({ threadId, by: 'me', decisions })
      await holdfast.settled()
    }
    const output = { kind: 'inline', value: 'blue' } as const
    const add = (callId: typeof client) =>
      holdfast.addToolOutputs(threadId, [
        { callId: callId!, outcome: { state: 'succeeded', output } },
      ])
    expect(await add(server)).toEqual([{ kind: 'not-waiting', state: 'awaiting-approval' }])
    await accept(client)
    expect(statesOf(await last())).toEqual(['ready', 'awaiting-approval'])
    await accept(server)
    expect(statesOf(await last())).toEqual(['ready', 'succeeded'])
    expect((await last()).progress).toEqual({ status: 'waiting', waitingFor: 'client' })
    expect(await add(client)).toEqual([{ kind: 'added' }])
    await holdfast.settled()
    expect(textOf(await last())).toEqual(['Done.'])
    expect(await add(server)).toEqual([{ kind: 'repeated' }])
  })
})

function thrown(error: unknown): never {
  throw error
}
