import { createHoldfast, memory, type Recording } from 'holdfast'
import { describe, expect, it, onTestFinished } from 'vitest'

const parts = [
  { type: 'start-step' },
  { type: 'text-start', id: '1' },
  { type: 'text-delta', id: '1', text: 'Hello.' },
] as const

/** A stream of the host that has sent some text. */
function openStream() {
  const opened = Promise.withResolvers<ReadableStreamDefaultController<unknown>>()
  let cancelled = 0
  const stream = new ReadableStream<unknown>({
    start(controller) {
      for (const part of parts) controller.enqueue(part)
      opened.resolve(controller)
    },
    cancel: () => void cancelled++,
  })
  return { stream, controller: opened.promise, cancelled: () => cancelled }
}

const ends: Readonly<
  Record<string, (controller: ReadableStreamDefaultController<unknown>) => void>
> = {
  'has ended': (controller) => controller.close(),
  'has failed': (controller) => controller.error(new Error('The loop failed.')),
}

async function record(source: ReadableStream<unknown>) {
  const holdfast = createHoldfast({ store: memory(), recoverEveryMs: 0 })
  onTestFinished(() => holdfast.close())
  const recording: Recording = await holdfast.record(source, {
    threadId: 't',
    message: { id: 'u', parts: [{ type: 'text', text: 'go' }] },
    create: { ownerId: 'ana', title: '' },
  })
  if (recording.kind !== 'recording') throw new Error(recording.kind)
  return { holdfast, recording }
}

describe('the stream of a recorded loop belongs to the host again', () => {
  it.each(Object.entries(ends))('[CL12] once it %s', async (_, end) => {
    const { stream, controller } = openStream()
    const { recording } = await record(stream)
    end(await controller)
    await recording.done
    expect(stream.locked).toBe(false)
  })

  it('[ST1] once its turn was stopped, and it is cancelled then', async () => {
    const { stream, cancelled } = openStream()
    const { holdfast, recording } = await record(stream)
    await holdfast.stop('t')
    await recording.done
    expect(cancelled()).toBe(1)
    expect(stream.locked).toBe(false)
  })
})
