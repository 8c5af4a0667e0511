import type { ThreadId } from '../../core/ids.ts'
import { callsOf, type Turn } from '../../core/message.ts'
import { decide, isWaiting, provide, resolve } from './decide-deeds.ts'
import { someProcess } from './deeds.ts'
import type { World } from './world.ts'

const roundMs = 3_500
const mostRounds = 30

/** Nothing goes wrong any more and whoever is asked answers: then everything must come to its end. */
export async function comeToRest(world: World): Promise<void> {
  for (let round = 0; round < mostRounds; round++) {
    someProcess(world)
    for (const viewer of world.viewers) {
      if (viewer.through === null) viewer.connect(someProcess(world))
    }
    const until = world.scheduler.now() + roundMs
    while (!world.isBroken && (await world.scheduler.step(until))) {
      // Whatever is ready runs.
    }
    if (world.isBroken) return
    const waiting = world.threads.filter((threadId) => !isAtRest(world, threadId))
    if (waiting.length === 0 && world.requests.open.length === 0) return
    for (const threadId of waiting) answerAll(world, threadId)
  }
  for (const threadId of world.threads) {
    if (isAtRest(world, threadId)) continue
    for (const { id, progress } of world.witnessOf(threadId).turns.values()) {
      if (progress.status !== 'ended') world.report('CR1', `${id} is ${progress.status} for ever`)
    }
    if (world.witnessOf(threadId).lease !== null) world.report('CR2', 'a run is never given back')
  }
}

const isAtRest = (world: World, threadId: ThreadId): boolean =>
  world.witnessOf(threadId).lease === null &&
  [...world.witnessOf(threadId).turns.values()].every(isOver)

export const isOver = ({ progress }: Turn): boolean => progress.status === 'ended'

function answerAll(world: World, threadId: ThreadId): void {
  for (const turn of world.witnessOf(threadId).turns.values()) {
    if (turn.progress.status !== 'waiting') continue
    for (const call of callsOf(turn)) {
      if (!isWaiting(call)) continue
      const process = someProcess(world)
      if (call.state === 'ready') provide(world, threadId, process, call)
      else if (call.state === 'unknown') resolve(world, threadId, process, 'eve', call)
      else decide(world, threadId, process, 'eve', [{ callId: call.id, decision: 'accept' }])
    }
  }
}
