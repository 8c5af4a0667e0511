import type { ThreadId } from '../../core/ids.ts'
import { decide, findWaiting, provide, randomDecision, resolve } from './decide-deeds.ts'
import type { Senders } from './send-deeds.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import { stop } from './stop-deed.ts'
import type { World } from './world.ts'

/** People, machines and networks do something. Which, the seed says. */
export function doSomething(world: World, senders: Senders): void {
  const { random } = world
  const threadId = random.pick(world.threads)
  const process = someProcess(world)
  const waiting = findWaiting(world, threadId)
  const deeds: readonly (readonly [weight: number, deed: () => void])[] = [
    [7, () => senders.send(threadId, process)],
    [2, () => sendAgain(world, senders, threadId, process)],
    [1.5, () => senders.edit(threadId, process)],
    [1.5, () => senders.regenerate(threadId, process)],
    [2, () => senders.continue(threadId, process)],
    [2, () => stop(world, threadId, process)],
    [waiting.length > 0 ? 25 : 0, () => answerSomebody(world, threadId, process)],
    [world.weather.crash > 0 ? 2 : 0, () => world.kill(process, 'crash-anywhere')],
    [world.weather.crash > 0 ? 2.5 : 0, () => stall(world, process)],
    [1, () => handOver(world, process)],
    [3, () => lookAgain(world, process)],
    [1.5, () => reload(world, process)],
  ]
  const total = deeds.reduce((sum, [weight]) => sum + weight, 0)
  let dice = (random.int(1_000) / 1_000) * total
  for (const [weight, deed] of deeds) {
    dice -= weight
    if (dice < 0) return deed()
  }
}

/** There is always one; a dead one is sooner or later started again under another name. */
export function someProcess(world: World): SimulatedProcess {
  if (world.processes.length === 0) {
    world.count('restart')
    return world.startProcess()
  }
  return world.random.pick(world.processes)
}

function answerSomebody(world: World, threadId: ThreadId, process: SimulatedProcess): void {
  const { random } = world
  const waiting = findWaiting(world, threadId)
  if (waiting.length === 0) return
  const call = random.pick(waiting)
  if (call.state === 'unknown') {
    resolve(world, threadId, process, 'ann', call)
    if (random.chance(0.3)) resolve(world, threadId, someProcess(world), 'bob', call)
    return
  }
  if (call.state === 'ready') {
    provide(world, threadId, process, call)
    if (random.chance(0.3)) provide(world, threadId, someProcess(world), call)
    return
  }
  if (random.chance(0.3)) {
    const batch = waiting.filter(({ state }) => state === 'awaiting-approval')
    const decisions = batch.map((one) => randomDecision(world, one))
    return decide(world, threadId, process, 'ann', decisions)
  }
  decide(world, threadId, process, 'ann', [randomDecision(world, call)])
  if (random.chance(0.5)) return
  world.count('decision-race')
  const by = random.pick(['ann', 'bob', 'bob'])
  decide(world, threadId, someProcess(world), by, [randomDecision(world, call)])
}

/** A client sends a message again, perhaps just when somebody else has it answered anew. */
function sendAgain(
  world: World,
  senders: Senders,
  threadId: ThreadId,
  process: SimulatedProcess,
): void {
  senders.repeat(threadId, process)
  if (world.random.chance(0.3)) senders.regenerate(threadId, someProcess(world))
}

function stall(world: World, process: SimulatedProcess): void {
  world.count('stall')
  world.scheduler.note(`${process.name} stands still`)
  world.scheduler.freeze(process.name, world.random.pick([200, 2_000, 3_200, 5_000]))
}

/** A server is told to go, and says when it has. */
function handOver(world: World, process: SimulatedProcess): void {
  const graceMs = world.random.pick([0, 100, 1_000])
  world.requests.ask({
    process: process.name,
    label: `close within ${graceMs}`,
    send: () => process.holdfast.close({ graceMs }),
    answered: () => world.kill(process, 'hand-over'),
  })
}

/** A viewer's connection breaks; it resumes where it was, perhaps elsewhere. */
function lookAgain(world: World, process: SimulatedProcess): void {
  const viewer = world.random.pick(world.viewers)
  const before = viewer.through
  viewer.drop()
  world.count('viewer-drop')
  world.later(`${viewer.name} resumes`, world.random.pick([0, 20, 800]), () => {
    const next = world.processes.includes(process) ? process : someProcess(world)
    world.count('viewer-resume')
    if (before !== null && before !== next.name) world.count('viewer-resume-elsewhere')
    viewer.connect(next)
  })
}

function reload(world: World, process: SimulatedProcess): void {
  const { random } = world
  world.count('viewer-reload')
  void random.pick(world.viewers).reload(process, 1 + random.int(8))
}
