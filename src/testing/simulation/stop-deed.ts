import type { MessageId, ThreadId } from '../../core/ids.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import type { World } from './world.ts'

/** Somebody stops what runs or waits in a thread, through any process (ST1, ST1a). */
export function stop(world: World, threadId: ThreadId, process: SimulatedProcess): void {
  const witness = world.witnessOf(threadId)
  const { seq } = witness.view
  const before = witness.lease
  const running = [...witness.turns.values()]
    .filter(({ progress }) => progress.status === 'running')
    .map(({ id }) => id)
  const last = witness.view.messages.at(-1)
  const waiting = last?.role === 'assistant' && last.progress.status === 'waiting' ? last.id : null
  const isGoingAgain = (id: MessageId) =>
    witness.events.some(
      (event) => event.seq > seq && event.type === 'turn-resumed' && event.turnId === id,
    )
  world.requests.ask({
    process: process.name,
    label: `stop ${threadId}`,
    send: () => process.holdfast.stop(threadId),
    answered(answer) {
      if (answer.kind === 'no-thread') world.report('ST1', `${threadId} was not found`)
      if (answer.kind === 'idle') {
        const isSame = before !== null && witness.lease?.fence === before.fence
        if (isSame) world.report('ST1', `${threadId} was called idle while it ran`)
        if (waiting !== null && witness.view.seq === seq) {
          world.report('ST1a', `${waiting} was called idle while it waited`)
        }
        return
      }
      if (waiting !== null) {
        world.count('stop-waiting')
        const now = witness.turns.get(waiting)?.progress.status
        if (now === 'waiting' && !isGoingAgain(waiting)) {
          world.report('ST1a', `${waiting} was called stopped and waits`)
        }
      }
      world.count('stop')
      if (before !== null && before.holder !== process.name) world.count('stop-from-elsewhere')
      for (const id of running) {
        const now = witness.turns.get(id)?.progress.status
        if (now === 'running' && !isGoingAgain(id)) {
          world.report('ST1', `${id} was called stopped and runs`)
        }
      }
    },
  })
}
