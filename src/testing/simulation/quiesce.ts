import { isOpenCall } from '../../core/call.ts'
import type { ThreadId } from '../../core/ids.ts'
import { callsOf, type Turn } from '../../core/message.ts'
import { someProcess } from './actions.ts'
import { checkAnsweredOnce } from './check-queue.ts'
import { checkPages, findDifference } from './check-views.ts'
import type { Cluster } from './cluster.ts'
import { addToolOutput, decide, isWaiting, resolve } from './decision-actions.ts'
import { checkLink } from './keep-actions.ts'
import type { MessageActions } from './message-actions.ts'

const roundMs = 3_500
const mostRounds = 30

/**
 * Runs the cluster without faults, with every waiting call answered, until nothing is open. What is still open after
 * `mostRounds` would be open for ever (CR1, CR2).
 */
export async function quiesce(cluster: Cluster): Promise<void> {
  for (let round = 0; round < mostRounds; round++) {
    someProcess(cluster)
    for (const viewer of cluster.viewers) {
      if (viewer.through === null) viewer.connect(someProcess(cluster))
    }
    const until = cluster.scheduler.now() + roundMs
    while (!cluster.isBroken && (await cluster.scheduler.step(until))) {
      // The step itself is the work.
    }
    if (cluster.isBroken) return
    const waiting = cluster.threads.filter((threadId) => !isQuiescent(cluster, threadId))
    if (waiting.length === 0 && cluster.requests.open.length === 0) return
    for (const threadId of waiting) answerAll(cluster, threadId)
  }
  for (const threadId of cluster.threads) {
    if (isQuiescent(cluster, threadId)) continue
    for (const { id, progress } of cluster.oracleOf(threadId).turns.values()) {
      if (progress.status !== 'ended') cluster.report('CR1', `${id} is ${progress.status} for ever`)
    }
    if (cluster.oracleOf(threadId).lease !== null)
      cluster.report('CR2', 'a run is never given back')
  }
}

const isQuiescent = (cluster: Cluster, threadId: ThreadId): boolean =>
  cluster.oracleOf(threadId).lease === null &&
  [...cluster.oracleOf(threadId).turns.values()].every(hasEnded)

const hasEnded = ({ progress }: Turn): boolean => progress.status === 'ended'

function answerAll(cluster: Cluster, threadId: ThreadId): void {
  for (const turn of cluster.oracleOf(threadId).turns.values()) {
    if (turn.progress.status !== 'waiting') continue
    for (const call of callsOf(turn)) {
      if (!isWaiting(call)) continue
      const process = someProcess(cluster)
      if (call.state === 'ready') addToolOutput(cluster, threadId, process, call)
      else if (call.state === 'unknown') resolve(cluster, threadId, process, 'eve', call)
      else decide(cluster, threadId, process, 'eve', [{ callId: call.id, decision: 'accept' }])
    }
  }
}

/**
 * The invariants of a cluster that has quiesced: no open turn or call (CR1), no lease (CR2), every accepted message is
 * stored and answered (LG6), and pages and viewers equal the oracle (LG4, PG2, RS2).
 */
export async function checkEnd(cluster: Cluster, messageActions: MessageActions): Promise<void> {
  for (const request of cluster.requests.open) cluster.report('CR1', `never answered: ${request}`)
  for (const threadId of cluster.threads) await checkThread(cluster, messageActions, threadId)
  for (const link of cluster.links) await checkLink(cluster, link)
}

async function checkThread(
  cluster: Cluster,
  messageActions: MessageActions,
  threadId: ThreadId,
): Promise<void> {
  const { report, store } = cluster
  const { view, turns, events } = cluster.oracleOf(threadId)
  for (const turn of turns.values()) {
    if (!hasEnded(turn)) report('CR1', `${turn.id} is ${turn.progress.status} for ever`)
    for (const call of callsOf(turn)) {
      if (isOpenCall(call)) report('CR1', `${call.id} of ${turn.id} is ${call.state} for ever`)
    }
  }
  const last = view.messages.at(-1)
  if (last?.role === 'assistant' && last.progress.status === 'ended') {
    const { ending } = last.progress
    if (ending.kind !== 'completed') report('CR1', `the last message ended as ${ending.kind}`)
  }
  const stop = await store.requestStop(threadId)
  if (stop.kind !== 'idle') report('CR2', `the run of ${threadId} was never given back`)
  const retired = new Set(
    events.flatMap((event) => (event.type === 'messages-retired' ? event.messageIds : [])),
  )
  const joined = new Set(
    events.flatMap((event) => (event.type === 'input-joined' ? [event.messageId] : [])),
  )
  const withdrawn = new Set(
    events.flatMap((event) => (event.type === 'input-withdrawn' ? [event.messageId] : [])),
  )
  const { queue = [] } = view
  for (const id of messageActions.accepted.get(threadId) ?? []) {
    const isShown = view.messages.some((message) => message.id === id)
    const isWaiting = queue.some((input) => input.id === id)
    const isKnown = isShown || isWaiting || joined.has(id) || withdrawn.has(id) || retired.has(id)
    if (!isKnown) report('LG6', `${id} is gone`)
  }
  checkAnsweredOnce(events, queue, report)
  const stored = await store.readThread(threadId)
  if (JSON.stringify(stored?.queue) !== JSON.stringify(queue)) {
    report('IN2', `the queue of ${threadId} is not the fold of its events`)
  }
  for (const message of view.messages) {
    if (message.role !== 'user') continue
    const isAnswered = view.messages.some(
      (other) => other.role === 'assistant' && other.replyTo === message.id,
    )
    if (!isAnswered) report('LG6', `${message.id} was never answered`)
  }
  for (const limit of [1, 3, 200]) {
    await checkPages(store, threadId, cluster.oracleOf(threadId), limit, report)
  }
  for (const viewer of cluster.viewers) {
    if (viewer.threadId !== threadId) continue
    if (viewer.view.seq !== view.seq) {
      report('RS2', `${viewer.name} stands at ${viewer.view.seq} of ${view.seq}`)
    } else {
      const from = viewer.view.messages[0]?.seq ?? 0
      const shown = view.messages.filter(({ seq }) => seq >= from)
      const difference = findDifference(viewer.view.messages, shown)
      if (difference !== undefined) report('LG4', `${viewer.name} ${difference}`)
    }
  }
}
