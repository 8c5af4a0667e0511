import { tool, wrapLanguageModel } from 'ai'
import { callsOf } from 'holdfast'
import { sqlite } from 'holdfast/sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { temporaryFile } from '../sqlite/temporary-file.ts'
import { finish, partModel, textParts } from '../support/part-model.ts'
import { createScriptedClock } from '../support/scripted-clock.ts'
import { createFixture, gate } from './fixture.ts'

/** One call in each step, for so many steps; then the answer. */
const chargeTimes = (times: number) =>
  function script({ prompt }: { readonly prompt: readonly { readonly role: string }[] }) {
    const done = prompt.filter(({ role }) => role === 'tool').length
    return done < times ? [{ call: 'charge', input: { nth: done } }] : [{ text: 'All charged.' }]
  }

it('[OP4] hands a run over between two calls, to whoever looks next, though the process is still there', async () => {
  const clock = createScriptedClock()
  // As another process sees it: the one that had the run is still there.
  const store = sqlite(temporaryFile(), { isAlive: () => true })
  const ran: number[] = []
  const [begun, done] = [gate(), gate()]
  const charge = tool({
    inputSchema: z.object({ nth: z.number() }),
    async execute({ nth }) {
      ran.push(nth)
      begun.open()
      if (nth === 0) await done.opened
      return 'paid'
    },
  })
  const how = { store, clock, tools: { charge }, handOverAfterMs: 50_000 }
  const fixture = await createFixture(chargeTimes(3), how)
  onTestFinished(() => store.close())
  const { holdfast, log } = fixture
  await fixture.send('charge')
  await begun.opened
  await clock.advance(50_000)
  // What is under way goes on: the run leaves after it, and begins nothing more.
  expect(holdfast.running()).toHaveLength(1)
  done.open()
  await holdfast.settled()
  expect(ran).toEqual([0])
  expect(log.at(-1)).toMatchObject({ type: 'turn-handed-over' })
  const left = await fixture.last()
  expect(left.progress).toEqual({ status: 'running' })
  expect([...callsOf(left)]).toMatchObject([{ state: 'succeeded' }])

  expect(await holdfast.recover()).toBe(1)
  await holdfast.settled()
  const turn = await fixture.last()
  expect(turn.progress).toMatchObject({ ending: { kind: 'completed' } })
  expect(ran).toEqual([0, 1, 2])
  await holdfast.close()
})

it('[OP4] of several calls of one step begins no further one after its time, and the next process runs the rest', async () => {
  const clock = createScriptedClock()
  const ran: number[] = []
  const [begun, done] = [gate(), gate()]
  const charge = tool({
    inputSchema: z.object({ nth: z.number() }),
    async execute({ nth }) {
      ran.push(nth)
      begun.open()
      if (nth === 0) await done.opened
    },
  })
  const calls = [0, 1, 2, 3].map((nth) => ({ call: 'charge', input: { nth } }))
  const how = { clock, tools: { charge }, handOverAfterMs: 50_000, toolConcurrency: 1 }
  const fixture = await createFixture(
    ({ prompt }) => (prompt.at(-1)?.role === 'tool' ? [{ text: 'Done.' }] : calls),
    how,
  )
  await fixture.send('charge')
  await begun.opened
  await clock.advance(50_000)
  done.open()
  await fixture.holdfast.settled()
  expect(ran).toEqual([0])
  expect([...callsOf(await fixture.last())].map(({ state }) => state)).toEqual([
    'succeeded',
    'ready',
    'ready',
    'ready',
  ])
  expect(await fixture.holdfast.recover()).toBe(1)
  await fixture.holdfast.settled()
  expect(ran).toEqual([0, 1, 2, 3])
})

it('[OP4] breaks off what takes longer than its grace, and says so of the call', async () => {
  const clock = createScriptedClock()
  const begun = gate()
  const hang = tool({
    inputSchema: z.object({}),
    execute() {
      begun.open()
      return new Promise<string>(() => {})
    },
  })
  const how = { clock, tools: { hang }, handOverAfterMs: 50_000, handOverGraceMs: 1_000 }
  const fixture = await createFixture(() => [{ call: 'hang', input: {} }], how)
  await fixture.send('hang')
  await begun.opened
  await clock.advance(50_999)
  expect(fixture.holdfast.running()).toHaveLength(1)
  await clock.advance(1)
  await fixture.holdfast.settled()
  expect(await fixture.holdfast.recover()).toBe(1)
  await fixture.holdfast.settled()
  const turn = await fixture.last()
  expect([...callsOf(turn)]).toMatchObject([{ state: 'unknown' }])
  expect(turn.progress).toEqual({ status: 'waiting', waitingFor: 'resolution' })
})

it('[OP4] ends a turn though its time is over: that takes none', async () => {
  const clock = createScriptedClock()
  const [begun, answered] = [gate(), gate()]
  const { model: slow } = partModel([...textParts('All said.'), finish()])
  const model = wrapLanguageModel({
    model: slow as Exclude<typeof slow, string>,
    middleware: {
      async wrapStream({ doStream }) {
        begun.open()
        await answered.opened
        return doStream()
      },
    },
  })
  const fixture = await createFixture(() => [], { model, clock, handOverAfterMs: 50_000 })
  await fixture.send('hello')
  await begun.opened
  await clock.advance(50_000)
  answered.open()
  await fixture.holdfast.settled()
  expect((await fixture.last()).progress).toMatchObject({ ending: { kind: 'completed' } })
  expect(fixture.log.some(({ type }) => type === 'turn-handed-over')).toBe(false)
})
