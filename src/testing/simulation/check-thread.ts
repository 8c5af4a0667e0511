import { isDeepStrictEqual } from 'node:util'
import { isOpenCall } from '../../core/call.ts'
import type { Seq, ThreadId } from '../../core/ids.ts'
import { callsOf, type Message } from '../../core/message.ts'
import type { Store } from '../../store/store.ts'
import type { Cluster } from './cluster.ts'
import type { MessageActions } from './message-actions.ts'
import type { Report, Oracle } from './oracle.ts'

/**
 * The invariants of a cluster that has quiesced: no open turn or call (CR1), no lease (CR2), every accepted
 * message is there and answered (LG6), and pages and viewers equal the oracle (LG4, PG2, RS2).
 */
export async function checkEnd(cluster: Cluster, messageActions: MessageActions): Promise<void> {
  for (const request of cluster.requests.open) cluster.report('CR1', `never answered: ${request}`)
  for (const threadId of cluster.threads) await checkThread(cluster, messageActions, threadId)
}

async function checkThread(
  cluster: Cluster,
  messageActions: MessageActions,
  threadId: ThreadId,
): Promise<void> {
  const { report, store } = cluster
  const { view, turns, events } = cluster.oracleOf(threadId)
  for (const turn of turns.values()) {
    if (turn.progress.status !== 'ended')
      report('CR1', `${turn.id} is ${turn.progress.status} for ever`)
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
  for (const id of messageActions.accepted.get(threadId) ?? []) {
    const isShown = view.messages.some((message) => message.id === id)
    if (!isShown && !retired.has(id)) report('LG6', `${id} is gone`)
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

/** The pages of a thread, read one after another with this limit, are what the oracle folded (LG4, PG2). */
export async function checkPages(
  store: Store,
  threadId: ThreadId,
  oracle: Oracle,
  limit: number,
  report: Report,
): Promise<void> {
  const walked: Message[] = []
  let before: Seq | null = null
  do {
    const page = await store.readPage({ threadId, limit, before, live: 'include', results: 'full' })
    if (page === null) return report('CR1', `the thread ${threadId} is gone`)
    if (page.seq !== oracle.view.seq) {
      report('LG1', `a page says ${page.seq} where ${oracle.view.seq} was stored last`)
    }
    walked.push(...page.messages)
    before = page.hasMore ? (page.messages.at(-1)?.seq ?? null) : null
  } while (before !== null)
  const difference = findDifference(walked.toReversed(), oracle.view.messages)
  if (difference !== undefined) report('LG4', `pages of ${limit} have ${difference}`)
}

/** The newest messages equal the oracle's; cheap enough to run after every commit. */
export async function checkNewest(
  store: Store,
  threadId: ThreadId,
  oracle: Oracle,
  report: Report,
): Promise<void> {
  const query = { threadId, limit: 2, before: null, live: 'include', results: 'full' } as const
  const page = await store.readPage(query)
  const found = page?.messages.toReversed() ?? []
  const difference = findDifference(found, oracle.view.messages.slice(-2))
  if (difference !== undefined) report('LG4', `a reload at ${page?.seq} ${difference}`)
}

const texts = new WeakMap<object, string>()

/** The fold keeps unchanged messages as the same object, so each is serialized once however often it is compared. */
function textOf(message: Message): string {
  let text = texts.get(message)
  if (text === undefined) {
    text = JSON.stringify(message)
    texts.set(message, text)
  }
  return text
}

/** How two lists of messages differ as JSON, or undefined. */
export function findDifference(
  found: readonly Message[],
  expected: readonly Message[],
): string | undefined {
  const ids = (messages: readonly Message[]) => messages.map(({ id }) => id).join(' ')
  if (ids(found) !== ids(expected)) return `has [${ids(found)}], not [${ids(expected)}]`
  for (const [index, message] of found.entries()) {
    const other = expected[index] as Message
    if (message === other || textOf(message) === textOf(other)) continue
    if (isDeepStrictEqual(JSON.parse(textOf(message)), JSON.parse(textOf(other)))) continue
    return `has\n  ${textOf(message)}\nnot\n  ${textOf(other)}`
  }
  return undefined
}
