import type { ThreadId } from '../../core/ids.ts'
import type { Cluster } from './cluster.ts'
import { addToolOutput, decide, findWaiting, randomDecision, resolve } from './decision-actions.ts'
import {
  collectFiles,
  deleteFork,
  type MessageActions,
  stop,
  uploadFile,
} from './message-actions.ts'
import { forkThread, giveFeedback, shareThread, showVersion } from './thread-actions.ts'
import type { SimulatedProcess } from './simulated-process.ts'

/** One random action of a user, a process or the network; the seed picks it by weight. */
export function performRandomAction(cluster: Cluster, messageActions: MessageActions): void {
  const { random } = cluster
  const threadId = random.pick(cluster.threads)
  const process = someProcess(cluster)
  const waiting = findWaiting(cluster, threadId)
  const actions: readonly (readonly [weight: number, action: () => void])[] = [
    [7, () => messageActions.send(threadId, process)],
    [2, () => sendAgain(cluster, messageActions, threadId, process)],
    [1.5, () => messageActions.edit(threadId, process)],
    [1.5, () => messageActions.regenerate(threadId, process)],
    [2, () => showVersion(cluster, threadId, process)],
    [0.7, () => forkThread(cluster, threadId, process)],
    [1.5, () => giveFeedback(cluster, threadId, process)],
    [1, () => shareThread(cluster, threadId, process)],
    [2, () => uploadFile(cluster, process)],
    [1, () => collectFiles(cluster, process)],
    [cluster.forks.size > 0 ? 1 : 0, () => deleteFork(cluster, process)],
    [2, () => messageActions.continue(threadId, process)],
    [2, () => stop(cluster, threadId, process)],
    [3, () => messageActions.changeQueue(threadId, process)],
    [waiting.length > 0 ? 25 : 0, () => answerWaitingCall(cluster, threadId, process)],
    [cluster.profile.crash > 0 ? 2 : 0, () => cluster.kill(process, 'crash-anywhere')],
    [cluster.profile.crash > 0 ? 2.5 : 0, () => stall(cluster, process)],
    [1, () => shutDown(cluster, process)],
    [3, () => reconnect(cluster, process)],
    [1.5, () => reload(cluster, process)],
  ]
  const total = actions.reduce((sum, [weight]) => sum + weight, 0)
  let dice = (random.int(1_000) / 1_000) * total
  for (const [weight, action] of actions) {
    dice -= weight
    if (dice < 0) return action()
  }
}

/** A random living process. If none is left, one is started: a cluster without processes tests nothing. */
export function someProcess(cluster: Cluster): SimulatedProcess {
  if (cluster.processes.length === 0) {
    cluster.count('restart')
    return cluster.startProcess()
  }
  return cluster.random.pick(cluster.processes)
}

function answerWaitingCall(cluster: Cluster, threadId: ThreadId, process: SimulatedProcess): void {
  const { random } = cluster
  const waiting = findWaiting(cluster, threadId)
  if (waiting.length === 0) return
  const call = random.pick(waiting)
  if (call.state === 'unknown') {
    resolve(cluster, threadId, process, 'ann', call)
    if (random.chance(0.3)) resolve(cluster, threadId, someProcess(cluster), 'bob', call)
    return
  }
  if (call.state === 'ready') {
    addToolOutput(cluster, threadId, process, call)
    if (random.chance(0.3)) addToolOutput(cluster, threadId, someProcess(cluster), call)
    return
  }
  if (random.chance(0.3)) {
    const batch = waiting.filter(({ state }) => state === 'awaiting-approval')
    const decisions = batch.map((one) => randomDecision(cluster, one))
    return decide(cluster, threadId, process, 'ann', decisions)
  }
  decide(cluster, threadId, process, 'ann', [randomDecision(cluster, call)])
  if (random.chance(0.5)) return
  cluster.count('decision-race')
  const by = random.pick(['ann', 'bob', 'bob'])
  decide(cluster, threadId, someProcess(cluster), by, [randomDecision(cluster, call)])
}

/** A client sends a message again, at times while another user regenerates its answer. */
function sendAgain(
  cluster: Cluster,
  messageActions: MessageActions,
  threadId: ThreadId,
  process: SimulatedProcess,
): void {
  messageActions.repeat(threadId, process)
  if (cluster.random.chance(0.3)) messageActions.regenerate(threadId, someProcess(cluster))
}

function stall(cluster: Cluster, process: SimulatedProcess): void {
  cluster.count('stall')
  cluster.scheduler.note(`${process.name} stalls`)
  cluster.scheduler.freeze(process.name, cluster.random.pick([200, 2_000, 3_200, 5_000]))
}

/** A process shuts down in order: it closes its engine, hands over what it runs, and exits. */
function shutDown(cluster: Cluster, process: SimulatedProcess): void {
  const graceMs = cluster.random.pick([0, 100, 1_000])
  cluster.requests.submit({
    process: process.name,
    label: `close within ${graceMs}`,
    send: () => process.holdfast.close({ graceMs }),
    onAnswer: () => cluster.kill(process, 'hand-over'),
  })
}

/** A viewer's connection breaks; it resumes at its seq, perhaps through another process. */
function reconnect(cluster: Cluster, process: SimulatedProcess): void {
  const viewer = cluster.random.pick(cluster.viewers)
  const before = viewer.through
  viewer.drop()
  cluster.count('viewer-drop')
  cluster.later(`${viewer.name} resumes`, cluster.random.pick([0, 20, 800]), () => {
    const next = cluster.processes.includes(process) ? process : someProcess(cluster)
    cluster.count('viewer-resume')
    if (before !== null && before !== next.name) cluster.count('viewer-resume-elsewhere')
    viewer.connect(next)
  })
}

function reload(cluster: Cluster, process: SimulatedProcess): void {
  const { random } = cluster
  cluster.count('viewer-reload')
  void random.pick(cluster.viewers).reload(process, 1 + random.int(8))
}
