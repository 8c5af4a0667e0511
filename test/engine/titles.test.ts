import {
  createHoldfast,
  type LifecycleEvent,
  memory,
  parseMessageId,
  parseOwnerId,
  parseThreadId,
  type Store,
  type ThreadId,
} from 'holdfast'
import { scriptedModel } from 'holdfast/testing'
import type { LanguageModel } from 'ai'
import { expect, it } from 'vitest'
import { createFixture, gate } from './fixture.ts'

type StreamingModel = Extract<LanguageModel, { readonly specificationVersion: 'v4' }>

/** A model that waits before it says anything, whatever its signal says. */
function held(
  titles: LanguageModel,
  until: Promise<unknown>,
  onCall: (signal: AbortSignal | undefined) => void = () => {},
): LanguageModel {
  const model = titles as StreamingModel
  return {
    ...model,
    async doStream(options: Parameters<StreamingModel['doStream']>[0]) {
      onCall(options.abortSignal)
      await until
      return model.doStream(options)
    },
  }
}

const titled = (title: string) => scriptedModel(() => [{ text: title }], { modelId: 'namer' })
const answer = () => [{ text: 'The capital of France is Paris.' }]
const threadOf = async ({ store, threadId }: { store: Store; threadId: ThreadId }) =>
  (await store.readThread(threadId)) ?? expect.fail('no thread')
const isMade = ({ type }: LifecycleEvent) => type === 'title-made'
const failuresIn = (log: readonly LifecycleEvent[]) =>
  log.filter((event) => event.type === 'failed' && event.source === 'title')

it('[FK3] names a thread after its first answer, once, with what the call used, and is sent the beginning only', async () => {
  const asked: string[] = []
  const model = scriptedModel(() => [{ text: '**"The Capital of France."**\nAnd more.' }], {
    modelId: 'namer',
    onCall: ({ prompt }) => asked.push(JSON.stringify(prompt)),
  })
  const fixture = await createFixture(answer, { title: { model } })
  await fixture.runTurn(`Which is it? ${'x'.repeat(10_000)}`)
  const view = await fixture.until(({ title }) => title !== undefined)
  expect(view.title).toBe('The Capital of France')
  expect(await threadOf(fixture)).toMatchObject({
    title: 'The Capital of France',
    titledBy: 'model',
  })
  const changes = await fixture.store.readChanges({
    ...{ threadId: fixture.threadId, after: 0, limit: 99, results: 'full' },
  })
  const renamed = changes?.changes.flatMap((change) =>
    change.kind === 'event' && change.event.type === 'thread-renamed' ? [change.event] : [],
  )
  expect(renamed).toMatchObject([{ by: 'model', model: 'namer' }])
  expect(Object.keys(renamed?.[0]?.usage ?? {})).toContain('totalTokens')
  expect(asked).toHaveLength(1)
  expect(asked[0]).toContain('User: Which is it?')
  expect(asked[0]).toContain('Assistant: The capital of France is Paris.')
  expect(asked[0]?.length).toBeLessThan(4_000)
  await fixture.runTurn('And of Spain?')
  expect(asked).toHaveLength(1)
  expect(fixture.log.filter(isMade)).toEqual([
    expect.objectContaining({ modelId: 'namer', isStored: true, threadId: fixture.threadId }),
  ])
})

it('[FK3] asks no model for a title unless the option is set, and none that is not known', async () => {
  const fixture = await createFixture(answer)
  await fixture.runTurn('Hello')
  await fixture.holdfast.close()
  expect(fixture.calls).toHaveLength(1)
  expect((await threadOf(fixture)).title).toBe('')

  // A loop of the host's own: its model is not known here.
  const store = memory()
  const holdfast = createHoldfast({ store, title: {} })
  const said = new ReadableStream<string>({
    start(controller) {
      controller.enqueue('Good day.')
      controller.close()
    },
  })
  const recording = await holdfast.record(said, {
    threadId: parseThreadId('own'),
    message: { id: parseMessageId('u'), parts: [{ type: 'text', text: 'Hello' }] },
    create: { ownerId: parseOwnerId('o'), title: '' },
  })
  expect(recording.kind).toBe('recording')
  await holdfast.settled()
  await holdfast.close()
  const own = await store.readThread(parseThreadId('own'))
  expect([own?.seq, own?.titledBy]).toEqual([expect.any(Number), null])
})

it('[FK3] uses the model of the answer where no other is named, and the next of its list where it fails', async () => {
  const broken = scriptedModel(() => [{ fails: new Error('down') }])
  const prompts: string[] = []
  const second = scriptedModel(({ index }) => [{ text: index === 0 ? 'It is Paris.' : 'France' }], {
    modelId: 'second',
    onCall: ({ prompt }) => prompts.push(JSON.stringify(prompt)),
  })
  const fixture = await createFixture(answer, {
    ...{ model: [broken, second], maxRetries: 0, title: { instructions: 'One word.' } },
  })
  await fixture.runTurn('Hello')
  await fixture.until(({ title }) => title === 'France')
  expect(prompts[1]).toContain('One word.')
  expect(failuresIn(fixture.log)).toEqual([])
})

it('[FK3] a person who names the thread while the model thinks has the last word', async () => {
  const thought = gate()
  const fixture = await createFixture(answer, {
    title: { model: held(titled('By a model'), thought.opened) },
  })
  await fixture.runTurn('Hello')
  await fixture.holdfast.threads.update(fixture.threadId, { title: 'Mine' })
  thought.open()
  await expect.poll(() => fixture.log.filter(isMade)).toMatchObject([{ isStored: false }])
  expect(await threadOf(fixture)).toMatchObject({ title: 'Mine', titledBy: 'person' })
})

it('[FK3] of a rename and a title at one moment one is stored, and it is the person’s', async () => {
  const store = memory()
  let rename: (() => Promise<unknown>) | undefined
  const racing: Store = {
    ...store,
    async readThread(id) {
      const thread = await store.readThread(id)
      // Between the read that found no name and the append that relies on it.
      const act = rename
      rename = undefined
      await act?.()
      return thread
    },
  }
  const thought = gate()
  const fixture = await createFixture(answer, {
    store: racing,
    title: { model: held(titled('By a model'), thought.opened) },
  })
  await fixture.runTurn('Hello')
  rename = () => fixture.holdfast.threads.update(fixture.threadId, { title: 'Mine' })
  thought.open()
  await expect.poll(() => fixture.log.filter(isMade)).toMatchObject([{ isStored: false }])
  expect(await threadOf(fixture)).toMatchObject({ title: 'Mine', titledBy: 'person' })
})

it('[FK3 OP6] a title for a thread that was deleted does not name the thread that was made anew under its id', async () => {
  const thought = gate()
  const fixture = await createFixture(answer, {
    title: { model: held(titled('Of the one before'), thought.opened) },
  })
  await fixture.runTurn('Hello')
  const { store, threadId } = fixture
  await fixture.holdfast.threads.delete(threadId)
  await store.createThread({ id: threadId, ownerId: parseOwnerId('owner'), title: '', at: 2 })
  thought.open()
  await expect.poll(() => fixture.log.filter(isMade)).toMatchObject([{ isStored: false }])
  expect(await threadOf(fixture)).toMatchObject({ title: '', titledBy: null, seq: 0 })
})

it('[FK3] a thread that has a name is not named again; one whose name was taken away is', async () => {
  const fixture = await createFixture(answer, { title: { model: titled('By a model') } })
  const { threads } = fixture.holdfast
  await threads.update(fixture.threadId, { title: 'Mine' })
  await fixture.runTurn('Hello')
  await fixture.holdfast.close()
  expect(fixture.log.filter(isMade)).toEqual([])

  const again = await createFixture(answer, { title: { model: titled('By a model') } })
  await again.holdfast.threads.update(again.threadId, { title: 'Mine' })
  await again.runTurn('Hello')
  await again.holdfast.threads.update(again.threadId, { title: '' })
  await again.runTurn('Hello again')
  await again.until(({ title }) => title === 'By a model')
})

it('[FK3] a title that cannot be made is reported to the hooks alone, and the next answer tries again', async () => {
  let tries = 0
  const model = scriptedModel(() => {
    tries++
    if (tries === 1) return [{ fails: new Error('no quota') }]
    return tries === 2 ? [{ text: ' \n"…"\n' }] : [{ text: 'At last' }]
  })
  const fixture = await createFixture(answer, { title: { model } })
  const turn = await fixture.runTurn('Hello')
  expect(turn.progress).toMatchObject({ status: 'ended', ending: { kind: 'completed' } })
  await expect.poll(() => failuresIn(fixture.log)).toMatchObject([{ message: 'no quota' }])
  expect((await threadOf(fixture)).title).toBe('')
  await fixture.runTurn('Hello?')
  await expect.poll(() => failuresIn(fixture.log)).toHaveLength(2)
  await fixture.runTurn('Hello??')
  await fixture.until(({ title }) => title === 'At last')
  expect(tries).toBe(3)
})

it('[FK3] an answer that failed or was stopped names nothing', async () => {
  const fixture = await createFixture(() => [{ text: 'Hm' }, { fails: new Error('down') }], {
    ...{ title: { model: titled('By a model') }, maxRetries: 0 },
  })
  await fixture.runTurn('Hello')
  await fixture.holdfast.close()
  expect(fixture.log.filter(isMade)).toEqual([])
  expect((await threadOf(fixture)).titledBy).toBeNull()
})

it('[FK3] the answer ends without waiting for its title, and a shutdown breaks off what ignores its signal', async () => {
  const never = gate()
  let signal: AbortSignal | undefined
  const model = held(titled('Too late'), never.opened, (given) => {
    signal = given
  })
  const fixture = await createFixture(answer, { title: { model } })
  const turn = await fixture.runTurn('Hello')
  expect(turn.progress.status).toBe('ended')
  await expect.poll(() => signal).toBeDefined()
  expect(signal?.aborted).toBe(false)
  await fixture.holdfast.close()
  expect(signal?.aborted).toBe(true)
  never.open()
  expect(failuresIn(fixture.log)).toEqual([])
  expect((await threadOf(fixture)).titledBy).toBeNull()
})

it('[FK3] a fork of a thread that nobody named can be named; one of a thread with a name keeps it', async () => {
  const fixture = await createFixture(answer)
  const { holdfast } = fixture
  const ownerId = parseOwnerId('owner')
  await holdfast.send({
    threadId: parseThreadId('placed'),
    message: { id: parseMessageId('m'), parts: [{ type: 'text', text: 'Hello there' }] },
    create: { ownerId, title: 'Hello there', isPlaceholder: true },
  })
  await holdfast.settled()
  const forked = await holdfast.threads.fork('placed')
  expect(forked).toMatchObject({ thread: { title: 'Hello there', titledBy: null } })
  await holdfast.threads.update('placed', { title: 'Mine' })
  const other = await holdfast.threads.fork('placed')
  expect(other).toMatchObject({ thread: { title: 'Mine', titledBy: 'person' } })
})
