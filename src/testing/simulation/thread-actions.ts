import type { MessageId, Seq, ThreadId } from '../../core/ids.ts'
import type { Message } from '../../core/message.ts'
import { type MessageVersion, toVersionId } from '../../core/versions.ts'
import type { ShowResult } from '../../engine/threads/show-version.ts'
import { findDifference } from './check-views.ts'
import type { Cluster, SharedLink } from './cluster.ts'
import type { Oracle } from './oracle.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import type { FeedbackResult } from '../../engine/threads/give-feedback.ts'
import { toSharedMessage } from '../../views/shared-message.ts'

type Added = MessageVersion & Pick<Message, 'role'>

/** A user shows another version, or goes back to a hidden message (VR1). */
export function showVersion(cluster: Cluster, threadId: ThreadId, process: SimulatedProcess): void {
  const { random, requests, report } = cluster
  const oracle = cluster.oracleOf(threadId)
  const added = oracle.events.flatMap((event): readonly Added[] => {
    const { seq } = event
    if (event.type === 'message-added') return [{ role: event.role, id: event.messageId, seq }]
    return event.type === 'turn-started' ? [{ role: 'assistant', id: event.turnId, seq }] : []
  })
  if (added.length === 0) return
  const target = random.pick(added)
  const version = toVersionId(target.role, target)
  requests.submit<ShowResult>({
    process: process.name,
    label: `show ${version} of ${threadId}`,
    send: () => process.holdfast.show(threadId, version),
    onAnswer(answer) {
      if (answer.kind === 'no-message' || answer.kind === 'no-thread') {
        report('VR1', `${version} was not found`)
      }
      if (answer.kind !== 'shown') return
      cluster.count('show')
      const shown = oracle.viewAt(answer.seq)?.messages ?? []
      if (!shown.some(({ seq }) => seq === target.seq)) {
        report('VR1', `${version} was said to be shown at ${answer.seq} and is not`)
      }
    },
  })
}

/** A user forks a thread: the copy equals what was visible at some time between the request and its response (VR4). */
export function forkThread(cluster: Cluster, threadId: ThreadId, process: SimulatedProcess): void {
  const { requests, report, store } = cluster
  const oracle = cluster.oracleOf(threadId)
  const from = oracle.view.seq
  requests.submit<Forked>({
    process: process.name,
    label: `fork ${threadId}`,
    // Only the fields of the thread that are the same in every store: counters of the whole store are not.
    async send() {
      const answer = await process.holdfast.threads.fork(threadId)
      if (answer.kind !== 'forked') return { kind: answer.kind }
      const { id, forkedFrom } = answer.thread
      return { kind: answer.kind, id, from: forkedFrom?.threadId }
    },
    onAnswer(answer) {
      const { id } = answer
      if (id === undefined) return
      cluster.count('fork')
      cluster.forks.add(id)
      if (answer.from !== threadId) report('VR4', `${id} does not say where it came from`)
      void checkFork(store, id, oracle, from).then((difference) => {
        if (difference !== undefined) report('VR4', `the fork ${id} ${difference}`)
      })
    },
  })
}

interface Forked {
  readonly kind: string
  readonly id?: ThreadId
  readonly from?: ThreadId | undefined
}

async function checkFork(
  store: Cluster['store'],
  id: ThreadId,
  oracle: Oracle,
  from: Seq,
): Promise<string | undefined> {
  const query = { threadId: id, limit: 1_000, before: null, live: 'include' } as const
  const page = await store.readPage({ ...query, results: 'full' })
  const copied = (page?.messages.toReversed() ?? []).map(withoutPlace)
  let difference: string | undefined = 'was never shown'
  for (let seq = from; seq <= oracle.view.seq; seq++) {
    const shown = oracle.viewAt(seq)?.messages
    if (shown === undefined) continue
    const ended = shown.filter((message) => !isOpen(message)).map(withoutPlace)
    difference = findDifference(copied, ended)
    if (difference === undefined) return undefined
  }
  return difference
}

const isOpen = (message: Message): boolean =>
  message.role === 'assistant' && message.progress.status !== 'ended'

/** A copy has other ids of turns and calls, other positions, and no feedback: these are not compared. */
function withoutPlace({ versions: _, ...message }: Message): Message {
  const place = { seq: 0, id: '' as MessageId }
  if (message.role !== 'assistant') return { ...message, seq: 0 }
  const { feedback: __, ...turn } = message
  const steps = message.steps.map((step) => ({
    ...step,
    parts: step.parts.map((part) => (part.type === 'call' ? { ...part, id: '' } : part)),
  }))
  return { ...turn, ...place, lastSeq: 0, steps }
}

/** A user rates an answer, visible or hidden, or withdraws the rating (FK4). */
export function giveFeedback(
  cluster: Cluster,
  threadId: ThreadId,
  process: SimulatedProcess,
): void {
  const { random, requests, report } = cluster
  const oracle = cluster.oracleOf(threadId)
  const turns = [...oracle.turns.keys()]
  if (turns.length === 0) return
  const id = random.pick(turns)
  const by = random.pick(['ann', 'bob'])
  const rating = random.pick(['up', 'down', null] as const)
  requests.submit<FeedbackResult>({
    process: process.name,
    label: `${by} rates ${id} ${rating}`,
    send: () => process.holdfast.giveFeedback(id, { by, rating, threadId }),
    onAnswer(answer) {
      if (answer.kind === 'no-message' || answer.kind === 'not-an-answer') {
        report('FK4', `${id} was not found`)
      }
      if (answer.kind !== 'given') return
      cluster.count('feedback')
      const { seq } = answer
      const given = oracle.events.findLast(
        (event) =>
          event.seq <= seq &&
          event.type === 'feedback-given' &&
          event.turnId === id &&
          event.by === by,
      )
      const stored = given?.type === 'feedback-given' ? given.rating : null
      if (stored !== rating) report('FK4', `${by} said ${rating} of ${id}, and ${stored} is stored`)
    },
  })
}

/** A user shares a thread: the link shows what was visible at its seq (FK5). */
export function shareThread(cluster: Cluster, threadId: ThreadId, process: SimulatedProcess): void {
  let id = ''
  cluster.requests.submit<{ readonly kind: string; readonly seq?: Seq }>({
    process: process.name,
    label: `share ${threadId}`,
    // Without its id, which is random and not decided by the seed.
    async send() {
      const answer = await process.holdfast.shares.create(threadId)
      if (answer.kind !== 'shared') return { kind: answer.kind }
      ;({ id } = answer.share)
      return { kind: answer.kind, seq: answer.share.seq }
    },
    onAnswer({ seq }) {
      if (seq === undefined) return
      cluster.count('share')
      const link = { id, threadId, seq }
      cluster.links.push(link)
      void checkLink(cluster, link)
    },
  })
}

/** Called again at the end, after all other actions on the thread. */
export async function checkLink(
  cluster: Cluster,
  { id, threadId, seq }: SharedLink,
): Promise<void> {
  const { shares } = cluster.store
  if (shares === undefined) return
  const read = await shares.readTexts({ id, before: null, limit: 1_000, maxBytes: 1e9 })
  const shown = read.texts.toReversed().map(({ body }) => JSON.parse(body) as Message)
  const expected = (cluster.oracleOf(threadId).viewAt(seq)?.messages ?? [])
    .filter((message) => toSharedMessage(message, 1) !== null)
    .flatMap((message, index) => toSharedMessage(message, index + 1) ?? [])
  const difference = findDifference(shown, expected)
  if (difference !== undefined)
    cluster.report('FK5', `the link of ${threadId} at ${seq} ${difference}`)
}
