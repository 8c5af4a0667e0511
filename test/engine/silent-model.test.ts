import type { LanguageModel } from 'ai'
import { createHoldfast, memory } from 'holdfast'
import { expect, it, onTestFinished } from 'vitest'
import { turnOf } from './fixture.ts'

type Model = Extract<LanguageModel, { readonly specificationVersion: 'v4' }>
type Opened = Awaited<ReturnType<Model['doStream']>>

const begun = () => ({
  stream: new ReadableStream({
    start(controller) {
      controller.enqueue({ type: 'stream-start', warnings: [] })
      controller.enqueue({ type: 'text-start', id: '1' })
      controller.enqueue({ type: 'text-delta', id: '1', delta: 'I begin ' })
    },
  }),
})

it.each([
  ['says no more', async () => begun(), ['I begin ']],
  ['never answers', () => new Promise<Opened>(() => {}), []],
] as const)(
  '[ST1] a model that %s, and ignores that it was stopped, keeps nobody waiting',
  async (_, doStream, said) => {
    const asked = Promise.withResolvers<void>()
    const model: Model = {
      ...{ specificationVersion: 'v4', provider: 'test', modelId: 'silent', supportedUrls: {} },
      doGenerate: () => Promise.reject(new Error('It only streams.')),
      doStream() {
        asked.resolve()
        return doStream()
      },
    }
    const store = memory()
    const holdfast = createHoldfast({ store, model, recoverEveryMs: 0 })
    onTestFinished(() => holdfast.close())
    const message = { id: 'u', parts: [{ type: 'text', text: 'Hello?' }] } as const
    const create = { ownerId: 'ann', title: '' }
    const sent = await holdfast.send({ threadId: 'thread', message, create })
    if (sent.kind !== 'started') throw new Error(sent.kind)
    await asked.promise
    if (said.length > 0) {
      for await (const { changes } of holdfast.subscribe('thread', 0)) {
        if (JSON.stringify(changes).includes('I begin')) break
      }
    }
    await holdfast.stop('thread')
    const turn = turnOf(await store.readMessage('thread', sent.turnId))
    expect(turn.progress).toMatchObject({ status: 'ended', ending: { kind: 'stopped' } })
    const parts = turn.steps.flatMap((step) => step.parts)
    expect(parts.flatMap((part) => (part.type === 'text' ? part.text : []))).toEqual(said)
    expect(holdfast.running()).toEqual([])
  },
)
