import {
  foldThread,
  type Holdfast,
  memory,
  type MessageId,
  parseMessageId,
  type SendResult,
  type Store,
  type ThreadView,
} from 'holdfast'
import { sqlite } from 'holdfast/sqlite'
import { scriptedModel } from 'holdfast/testing'
import { tool, type LanguageModel } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { temporaryFile } from '../sqlite/temporary-file.ts'
import { planCommit } from '../../src/store/plan-commit.ts'
import { createFixture, type Fixture, gate, type Script, textOf, turnOf } from './fixture.ts'

type WhenBusy = NonNullable<Parameters<Holdfast['send']>[0]['whenBusy']>

const textParts = (text: string) => [{ type: 'text', text }] as const
const id = (text: string): MessageId => parseMessageId(text)

const send = (
  { holdfast, threadId }: Fixture,
  text: string,
  whenBusy?: WhenBusy,
): Promise<SendResult> =>
  holdfast.send({
    threadId,
    message: { id: id(text), parts: textParts(text) },
    ...(whenBusy === undefined ? {} : { whenBusy }),
  })

/** A tool that begins, and ends when the test says so. */
function slowTool() {
  const begun = gate()
  const done = gate()
  const slow = tool({
    description: 'Takes as long as the test wants.',
    inputSchema: z.object({}),
    execute: async (_, { abortSignal }) => {
      begun.open()
      await Promise.race([
        done.opened,
        new Promise((resolve) => {
          abortSignal?.addEventListener('abort', resolve)
        }),
      ])
      return 'done'
    },
  })
  return { begun: begun.opened, finish: () => done.open(), tools: { slow } }
}

/** Runs `slow` in the first step of the first turn; every other step says what it was asked last. */
const slowFirst: Script = ({ index, prompt }) => {
  if (index === 0) return [{ call: 'slow', input: {} }]
  const last = prompt.findLast(({ role }) => role === 'user')
  const [part] = (last?.content ?? []) as readonly { readonly text?: string }[]
  return [{ text: `answer to ${part?.text ?? 'nothing'}` }]
}

const stores: Readonly<Record<string, () => Store>> = {
  memory: () => memory(),
  sqlite: () => sqlite(temporaryFile()),
}

const queueOf = async ({ store, threadId }: Fixture) =>
  ((await store.readThread(threadId))?.queue ?? []).map((input) =>
    input.held ? `${input.id} (held)` : input.id,
  )

const textsOf = async (fixture: Fixture) =>
  (await fixture.messages()).map((message) =>
    message.role === 'assistant' ? textOf(message).join('') : message.id,
  )

/** Every state that a follower sees: whatever waits and is not held, something runs or waits for a person. */
async function followAll({ holdfast, threadId }: Fixture, stop: AbortSignal) {
  let view: ThreadView = { seq: 0, messages: [] }
  for await (const frame of holdfast.subscribe(threadId, 0, stop)) {
    view = foldThread(view, frame.changes)
    const isBusy = view.messages.some(
      (message) => message.role === 'assistant' && message.progress.status !== 'ended',
    )
    const waits = (view.queue ?? []).some(({ held }) => !held)
    expect(isBusy || !waits).toBe(true)
  }
  return view
}

describe('what is said while a turn runs', () => {
  it('[IN1 IN2] is stored at once, and answered in its turn, each in the commit that ends the one before', async () => {
    const { tools, begun, finish } = slowTool()
    const fixture = await createFixture(slowFirst, { tools })
    const stop = new AbortController()
    const followed = followAll(fixture, stop.signal)
    expect((await send(fixture, 'one')).kind).toBe('started')
    await begun
    expect(await send(fixture, 'two')).toMatchObject({ kind: 'queued', messageId: 'two' })
    expect((await send(fixture, 'three')).kind).toBe('queued')
    expect(await queueOf(fixture)).toEqual(['two', 'three'])
    expect(await fixture.messages()).toHaveLength(2)
    finish()
    await fixture.holdfast.settled()
    expect(await textsOf(fixture)).toEqual([
      'one',
      'answer to one',
      'two',
      'answer to two',
      'three',
      'answer to three',
    ])
    expect(await queueOf(fixture)).toEqual([])
    stop.abort()
    const view = await followed
    expect(view.messages).toEqual(await fixture.messages())
    // What waits has no place in the thread before its turn: the numbers of its message and its turn follow each other.
    const [, , two, answer] = view.messages
    expect(answer?.seq).toBe((two?.seq ?? 0) + 1)
    expect(fixture.log.filter(({ type }) => type === 'turn-started')).toHaveLength(3)
  })

  it('[IN1] is refused with `reject`, and not stored', async () => {
    const { tools, begun, finish } = slowTool()
    const fixture = await createFixture(slowFirst, { tools })
    await send(fixture, 'one')
    await begun
    expect((await send(fixture, 'two', 'reject')).kind).toBe('run-active')
    expect(await queueOf(fixture)).toEqual([])
    finish()
    await fixture.holdfast.settled()
    expect(await fixture.messages()).toHaveLength(2)
  })

  it('[IN3] joins the turn at its next step, and is in the prompt there and in every later turn', async () => {
    const { tools, begun, finish } = slowTool()
    const fixture = await createFixture(slowFirst, { tools })
    const first = await send(fixture, 'one')
    await begun
    expect(await send(fixture, 'aside', 'steer')).toMatchObject({
      kind: 'steering',
      turnId: 'turnId' in first ? first.turnId : '',
    })
    expect(await queueOf(fixture)).toEqual(['aside'])
    finish()
    await fixture.holdfast.settled()
    const turn = await fixture.last()
    expect(turn.steps.map(({ parts }) => parts.map(({ type }) => type))).toEqual([
      ['call', 'steering'],
      ['text'],
    ])
    expect(textOf(turn)).toEqual(['answer to aside'])
    const roles = (index: number) => fixture.calls[index]?.prompt.map(({ role }) => role)
    expect(roles(1)).toEqual(['user', 'assistant', 'tool', 'user'])
    await fixture.runTurn('later')
    expect(roles(2)).toEqual(['user', 'assistant', 'tool', 'user', 'assistant', 'user'])
    // The same again is the same (IN6), and cannot be taken back any more (IN2).
    expect((await send(fixture, 'aside', 'steer')).kind).toBe('repeated')
    await expect(fixture.holdfast.queues.withdraw(fixture.threadId, 'aside')).rejects.toMatchObject(
      { code: 'input-taken' },
    )
  })

  it('[IN3] makes the turn go on where the model has just finished', async () => {
    const textShown = gate()
    const mayFinish = gate()
    const inner = scriptedModel(slowText) as Exclude<LanguageModel, string>
    const model = withGate(inner, textShown.open, mayFinish.opened)
    const fixture = await createFixture(slowText, { model })
    await send(fixture, 'one')
    await textShown.opened
    expect((await send(fixture, 'aside', 'steer')).kind).toBe('steering')
    mayFinish.open()
    await fixture.holdfast.settled()
    const turn = await fixture.last()
    expect(textOf(turn)).toEqual(['said 0', 'said 1'])
    expect(turn.progress).toMatchObject({ ending: { kind: 'completed' } })
    expect(await fixture.messages()).toHaveLength(2)
  })

  it('[IN4] stops the turn for it, answers it, and leaves the others waiting behind it', async () => {
    const { tools, begun } = slowTool()
    const fixture = await createFixture(slowFirst, { tools })
    await send(fixture, 'one')
    await begun
    await send(fixture, 'later')
    const sent = await send(fixture, 'now', 'interrupt')
    expect(sent.kind).toBe('queued')
    await fixture.holdfast.settled()
    expect(await textsOf(fixture)).toEqual([
      'one',
      '',
      'now',
      'answer to now',
      'later',
      'answer to later',
    ])
    const [, stopped] = await fixture.messages()
    expect(turnOf(stopped ?? null).progress).toMatchObject({ ending: { kind: 'stopped' } })
  })

  it('[IN5] is held by a stop until a person sends it on', async () => {
    const { tools, begun } = slowTool()
    const fixture = await createFixture(slowFirst, { tools })
    const { holdfast, threadId } = fixture
    await send(fixture, 'one')
    await begun
    await send(fixture, 'two')
    await send(fixture, 'three', 'steer')
    expect(await holdfast.stop(threadId)).toEqual({ kind: 'stopped', held: 2 })
    expect(await queueOf(fixture)).toEqual(['two (held)', 'three (held)'])
    expect(holdfast.running()).toEqual([])
    // A new message of a thread at rest is answered at once; what is held stays so.
    expect((await send(fixture, 'other')).kind).toBe('started')
    await holdfast.settled()
    expect(await queueOf(fixture)).toEqual(['two (held)', 'three (held)'])
    await holdfast.queues.release(threadId)
    await holdfast.settled()
    expect((await textsOf(fixture)).slice(-4)).toEqual([
      'two',
      'answer to two',
      'three',
      'answer to three',
    ])
    expect(await holdfast.stop(threadId)).toEqual({ kind: 'idle', held: 0 })
  })

  it('[IN6] is one input when it is sent twice, and a conflict with other content', async () => {
    const { tools, begun, finish } = slowTool()
    const fixture = await createFixture(slowFirst, { tools })
    const { holdfast, threadId } = fixture
    await send(fixture, 'one')
    await begun
    await send(fixture, 'two')
    expect((await send(fixture, 'two')).kind).toBe('queued')
    expect(await queueOf(fixture)).toEqual(['two'])
    const other = (name: string) =>
      holdfast.send({ threadId, message: { id: id(name), parts: textParts('other words') } })
    await expect(other('two')).rejects.toMatchObject({ code: 'conflict' })
    await expect(other('one')).rejects.toMatchObject({ code: 'conflict' })
    finish()
    await holdfast.settled()
    expect((await send(fixture, 'two')).kind).toBe('repeated')
    await expect(other('two')).rejects.toMatchObject({ code: 'conflict' })
    expect(await fixture.messages()).toHaveLength(4)
  })

  it.each(Object.entries(stores))(
    '[IN6] is one input for ever, however it came and whatever became of it, on %s',
    async (_, open) => {
      const { tools, begun, finish } = slowTool()
      const fixture = await createFixture(slowFirst, { tools, store: open() })
      const { holdfast, threadId } = fixture
      await send(fixture, 'sent')
      await begun
      await send(fixture, 'queued', 'queue')
      await send(fixture, 'withdrawn', 'steer')
      await holdfast.queues.withdraw(threadId, id('withdrawn'))
      const steered = await send(fixture, 'steered', 'steer')
      finish()
      await holdfast.settled()
      const [, first] = await fixture.messages()
      expect(steered).toMatchObject({ kind: 'steering', turnId: first?.id })
      for (const name of ['4', '5', '6']) await fixture.runTurn(name)
      // An edit hides one of them, and under its own id changes another.
      const edit = (replaces: string, name: string, text: string) =>
        holdfast.send({ threadId, message: { id: id(name), parts: textParts(text) }, replaces })
      const [, , , answer] = await fixture.messages()
      await edit('queued', 'instead', 'instead')
      await holdfast.settled()
      for (const name of ['7', '8', '9']) await fixture.runTurn(name)
      const before = await fixture.messages()
      const seq = (await fixture.store.readThread(threadId))?.seq
      const answeredBy = { sent: first?.id, steered: first?.id, queued: answer?.id }
      for (const whenBusy of ['queue', 'steer', 'interrupt', 'reject'] as const) {
        for (const [name, turnId] of Object.entries(answeredBy)) {
          const again = await send(fixture, name, whenBusy)
          expect(again).toMatchObject({ kind: 'repeated', turnId })
          const other = { id: id(name), parts: textParts('other words') }
          await expect(holdfast.send({ threadId, message: other, whenBusy })).rejects.toMatchObject(
            { code: 'conflict' },
          )
        }
        await expect(send(fixture, 'withdrawn', whenBusy)).rejects.toMatchObject({
          code: 'conflict',
        })
      }
      for (const name of ['steered', 'queued', 'sent']) {
        await expect(holdfast.queues.withdraw(threadId, id(name))).rejects.toMatchObject({
          code: 'input-taken',
        })
      }
      expect(await fixture.messages()).toEqual(before)
      expect((await fixture.store.readThread(threadId))?.seq).toBe(seq)
      await edit('sent', 'sent', 'edited')
      await holdfast.settled()
      await expect(send(fixture, 'sent')).rejects.toMatchObject({ code: 'conflict' })
      expect((await send(fixture, 'steered')).kind).toBe('repeated')
      // A message that joined a turn is part of it, and cannot be replaced by itself.
      await expect(edit('steered', 'other', 'x')).rejects.toMatchObject({
        code: 'message-not-found',
      })
    },
  )

  it('[IN6] is a conflict under the id of an answer, or of a message that can be shown again', async () => {
    const { tools, begun, finish } = slowTool()
    const fixture = await createFixture(
      (step) =>
        step.index < 2 ? [{ text: 'quick' }] : slowFirst({ ...step, index: step.index - 2 }),
      { tools },
    )
    const { holdfast, threadId } = fixture
    const first = await fixture.runTurn('first')
    const edited = { id: id('edited'), parts: textParts('edited') }
    await holdfast.send({ threadId, message: edited, replaces: id('user-1') })
    await holdfast.settled()
    const running = await send(fixture, 'two')
    await begun
    const runningId = 'turnId' in running ? running.turnId : ''
    for (const whenBusy of ['queue', 'steer', 'interrupt'] as const) {
      for (const name of [first.id, runningId, 'user-1']) {
        const message = { id: id(name), parts: textParts('other words') }
        await expect(holdfast.send({ threadId, message, whenBusy })).rejects.toMatchObject({
          code: 'conflict',
        })
      }
    }
    // With the same content it is the message that was sent before, beside a turn as at rest.
    const again = { threadId, message: { id: id('user-1'), parts: textParts('first') } }
    const answered = { kind: 'repeated', turnId: first.id }
    expect(await holdfast.send(again)).toMatchObject(answered)
    expect(await queueOf(fixture)).toEqual([])
    await send(fixture, 'three')
    finish()
    await holdfast.settled()
    expect(await holdfast.send(again)).toMatchObject(answered)
    expect((await textsOf(fixture)).slice(-2)).toEqual(['three', 'answer to three'])
  })

  it('[IN6] is refused when fifty wait, or a megabyte, and nothing of it is stored', async () => {
    const { tools, begun } = slowTool()
    const fixture = await createFixture(slowFirst, { tools })
    const { holdfast, threadId } = fixture
    await send(fixture, 'one')
    await begun
    const large = holdfast.send({
      threadId,
      message: { id: id('large'), parts: textParts('x'.repeat(1_100_000)) },
    })
    await expect(large).rejects.toMatchObject({ code: 'queue-full' })
    for (let number = 0; number < 50; number++) await send(fixture, `input ${number}`)
    await expect(send(fixture, 'too many')).rejects.toMatchObject({ code: 'queue-full' })
    expect(await queueOf(fixture)).toHaveLength(50)
    await holdfast.stop(threadId)
  })

  it('[IN2] can be edited, moved and withdrawn while it waits, and not once it is answered', async () => {
    const { tools, begun, finish } = slowTool()
    const fixture = await createFixture(slowFirst, { tools })
    const { holdfast, threadId } = fixture
    const { queues } = holdfast
    await send(fixture, 'one')
    await begun
    for (const text of ['two', 'three', 'four']) await send(fixture, text)
    await queues.update(threadId, 'four', { before: 'two' })
    await queues.update(threadId, 'three', { text: 'edited', before: null })
    await queues.withdraw(threadId, 'two')
    expect(await queues.list(threadId)).toMatchObject([
      { id: 'four', parts: textParts('four') },
      { id: 'three', parts: textParts('edited') },
    ])
    await expect(queues.withdraw(threadId, 'two')).rejects.toMatchObject({
      code: 'message-not-found',
    })
    await expect(queues.update(threadId, 'four', {})).rejects.toMatchObject({ code: 'bad-request' })
    await expect(queues.update(threadId, 'four', { before: 'one' })).rejects.toMatchObject({
      code: 'bad-request',
    })
    expect(await queues.list('nowhere')).toBeNull()
    finish()
    await holdfast.settled()
    expect((await textsOf(fixture)).slice(2)).toEqual([
      'four',
      'answer to four',
      'three',
      'answer to edited',
    ])
    await expect(queues.update(threadId, 'four', { text: 'late' })).rejects.toMatchObject({
      code: 'input-taken',
    })
  })

  it('[IN2 AP8] waits behind a turn that waits for a person, and is not superseded by it', async () => {
    const { tools, begun, finish } = slowTool()
    const asking = tool({
      description: 'Needs a person.',
      inputSchema: z.object({}),
      needsApproval: true,
      execute: () => 'accepted',
    })
    const fixture = await createFixture(
      (step) =>
        step.index === 0
          ? [
              { call: 'slow', input: {} },
              { call: 'asking', input: {} },
            ]
          : slowFirst(step),
      { tools: { ...tools, asking } },
    )
    const { holdfast, threadId } = fixture
    await send(fixture, 'one')
    await begun
    await send(fixture, 'two')
    finish()
    await holdfast.settled()
    expect(await queueOf(fixture)).toEqual(['two'])
    const waiting = await fixture.last()
    expect(waiting.progress.status).toBe('waiting')
    expect((await send(fixture, 'three')).kind).toBe('queued')
    expect((await send(fixture, 'four', 'reject')).kind).toBe('run-active')
    const asked = waiting.steps
      .flatMap(({ parts }) => parts)
      .find((part) => part.type === 'call' && part.name === 'asking')
    const toolCallId = asked?.type === 'call' ? asked.id : ''
    await holdfast.decide({ threadId, by: 'ana', decisions: [{ toolCallId, decision: 'accept' }] })
    await holdfast.settled()
    expect((await textsOf(fixture)).slice(2)).toEqual([
      'two',
      'answer to two',
      'three',
      'answer to three',
    ])
  })

  it('[IN2] is answered though the turn before it fails or is cut off', async () => {
    for (const end of [{ fails: new Error('no') }, { finish: 'length' }] as const) {
      const { tools, begun, finish } = slowTool()
      const fixture = await createFixture(
        (step) => (step.index === 1 ? [{ text: 'half' }, end] : slowFirst(step)),
        { tools, modelRetries: 0 },
      )
      await send(fixture, 'one')
      await begun
      await send(fixture, 'aside', 'steer')
      await send(fixture, 'two')
      finish()
      await fixture.holdfast.settled()
      expect((await textsOf(fixture)).at(-1)).toBe('answer to two')
      expect(await queueOf(fixture)).toEqual([])
    }
  })

  it('[IN4] an edit or a new answer stops the turn only if it says so', async () => {
    const { tools, begun } = slowTool()
    const fixture = await createFixture(slowFirst, { tools })
    const { holdfast, threadId } = fixture
    await send(fixture, 'one')
    await begun
    expect((await holdfast.regenerate({ threadId })).kind).toBe('run-active')
    const edit = {
      threadId,
      message: { id: id('new'), parts: textParts('new') },
      replaces: id('one'),
    }
    expect((await holdfast.send(edit)).kind).toBe('run-active')
    expect((await holdfast.send({ ...edit, whenBusy: 'interrupt' })).kind).toBe('started')
    await holdfast.settled()
    expect(await textsOf(fixture)).toEqual(['new', 'answer to new'])
  })
})

const slowText: Script = ({ index }) => [{ text: `said ${index}` }]

/** A model whose first answer does not end before the test says so. */
function withGate(
  model: Exclude<LanguageModel, string>,
  onText: () => void,
  mayFinish: Promise<void>,
): LanguageModel {
  let calls = 0
  const doStream: (typeof model)['doStream'] = async (options: never) => {
    const result = await model.doStream(options)
    if (calls++ > 0) return result as never
    const held = new TransformStream<{ readonly type: string }>({
      async transform(part, controller) {
        if (part.type === 'finish') {
          onText()
          await mayFinish
        }
        controller.enqueue(part)
      },
    })
    return { ...result, stream: (result.stream as ReadableStream).pipeThrough(held) } as never
  }
  return { ...model, doStream } as LanguageModel
}

it('[IN2 IN5] a release answers what is queued in a thread at rest, held or not', async () => {
  const store = memory()
  const fixture = await createFixture(() => [{ text: 'answered' }], { store })
  const { holdfast, threadId } = fixture
  await send(fixture, 'first')
  await holdfast.settled()
  const { seq } = (await store.readThread(threadId)) ?? { seq: 0 }
  // As a version that does not know the queue leaves it: the turn before it has ended, and nothing was begun.
  const input = { id: id('stuck'), mode: 'queue', parts: textParts('stuck') } as const
  const events = [{ type: 'input-queued', at: 1, input } as const]
  const planned = planCommit({ threadId, events, expectedSeq: seq, queue: [] })
  if ('kind' in planned) throw new Error(planned.kind)
  await store.commit([planned])
  expect(await holdfast.queues.release(threadId)).toEqual([])
  await holdfast.settled()
  const { messages } = (await store.readPage({
    ...{ threadId, limit: 2, before: null, live: 'include', results: 'full' },
  })) ?? { messages: [] }
  expect(messages).toMatchObject([
    { role: 'assistant', replyTo: 'stuck', progress: { status: 'ended' } },
    { role: 'user', id: 'stuck' },
  ])
})
