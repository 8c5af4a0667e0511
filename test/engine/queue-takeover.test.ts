import { createHoldfast, foldThread, memory, type Store, type ThreadView } from 'holdfast'
import { scriptedModel } from 'holdfast/testing'
import { expect, it, onTestFinished } from 'vitest'

const threadId = 'thread'
const message = (id: string) => ({ id, parts: [{ type: 'text', text: id }] as const })

it.each(['queue', 'steer'] as const)(
  '[CR5 IN1] a message that comes as a lease runs out waits for the turn that is taken over (%s)',
  async (whenBusy) => {
    const alive = new Set(['first', 'second'])
    const shared = memory({ isAlive: (holder) => alive.has(holder) })
    await shared.createThread({ id: threadId, ownerId: 'owner', title: '', at: 1 })
    const first = createHoldfast({
      store: shared,
      holder: 'first',
      recoverEveryMs: 0,
      model: scriptedModel(() => [{ waitMs: 600_000 }]),
    })
    await first.send({ threadId, message: message('one') })
    // The first looks find that the run is held; by the next moment it is nobody's.
    const store: Store = {
      ...shared,
      async findAbandonedRuns(...asked) {
        const found = await shared.findAbandonedRuns(...asked)
        alive.delete('first')
        return found
      },
    }
    const second = createHoldfast({
      store,
      holder: 'second',
      recoverEveryMs: 20,
      model: scriptedModel(() => [{ text: 'said' }]),
    })
    onTestFinished(async () => {
      await second.close()
      await first.close({ graceMs: 0 })
    })
    const sent = await second.send({ threadId, message: message('two'), whenBusy })
    expect(sent.kind).toBe(whenBusy === 'queue' ? 'queued' : 'steering')
    const stop = new AbortController()
    let view: ThreadView = { seq: 0, messages: [] }
    for await (const frame of second.subscribe(threadId, 0, stop.signal)) {
      view = foldThread(view, frame.changes)
      const last = view.messages.at(-1)
      const isOver = last?.role === 'assistant' && last.progress.status === 'ended'
      if (isOver && (view.queue ?? []).length === 0) break
    }
    stop.abort()
    const endings = view.messages.map((turn) =>
      turn.role === 'assistant' && turn.progress.status === 'ended'
        ? turn.progress.ending.kind
        : turn.id,
    )
    expect(endings).toEqual(
      whenBusy === 'queue' ? ['one', 'completed', 'two', 'completed'] : ['one', 'completed'],
    )
  },
)
