import type { Seq, ThreadId } from '../../core/ids.ts'
import type { Message } from '../../core/message.ts'
import type { FeedbackResult } from '../../engine/threads/give-feedback.ts'
import { toSharedMessage } from '../../views/shared-message.ts'
import { findDifference } from './check-views.ts'
import type { Cluster, SharedLink } from './cluster.ts'
import type { SimulatedProcess } from './simulated-process.ts'

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
