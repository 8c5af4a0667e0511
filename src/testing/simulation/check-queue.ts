import { isOpenCall } from '../../core/call.ts'
import type { LedgerEvent } from '../../core/event.ts'
import type { ThreadView } from '../../core/fold-thread.ts'
import type { MessageId } from '../../core/ids.ts'
import { callsOf, type Turn } from '../../core/message.ts'
import type { InputQueue } from '../../core/queued-input.ts'
import type { Report } from './report.ts'

/**
 * Checks what one commit does with the queue. Written independently of the engine's planning, so that a wrong plan
 * shows: inputs are answered in order (IN2), an interrupting one before all others (IN4), and none is left in a thread
 * that nothing runs.
 */
export function checkQueue(
  before: ThreadView,
  fresh: readonly LedgerEvent[],
  after: ThreadView,
  report: Report,
): void {
  const { queue = [] } = before
  for (const event of fresh) {
    if (event.type !== 'message-added' || !queue.some(({ id }) => id === event.messageId)) continue
    const due = findDue(queue, fresh)
    if (due === event.messageId) continue
    report('IN2', `${event.messageId} was answered out of its order: it was the turn of ${due}`)
  }
  const isBusy = after.messages.some(
    (message) => message.role === 'assistant' && message.progress.status !== 'ended',
  )
  const left = isBusy ? undefined : after.queue?.find(({ held }) => !held)
  if (left !== undefined) report('IN2', `${left.id} waits and nothing runs`)
}

function findDue(queue: InputQueue, fresh: readonly LedgerEvent[]): MessageId | undefined {
  const isReleased = fresh.some(({ type }) => type === 'queue-released')
  const joined = new Set(
    fresh.flatMap((event) => (event.type === 'input-joined' ? [event.messageId] : [])),
  )
  const ready = queue.filter(({ id, held }) => (!held || isReleased) && !joined.has(id))
  const isStopped = fresh.some(
    (event) => event.type === 'turn-ended' && event.ending.kind === 'stopped',
  )
  return ready.find(({ mode }) => !isStopped || mode === 'interrupt')?.id
}

/** An input joins after a step that has ended, with no call open (IN3). */
export function checkJoin(turn: Turn, messageId: MessageId, report: Report): void {
  const isBehindStep = turn.steps.at(-1)?.status === 'ended'
  if (isBehindStep && ![...callsOf(turn)].some(isOpenCall)) return
  report('IN3', `${messageId} joined ${turn.id} in the middle of a step`)
}

/** Each queued input is answered once, withdrawn, or still queued (IN6). */
export function checkAnsweredOnce(
  events: readonly LedgerEvent[],
  queue: InputQueue,
  report: Report,
): void {
  const counts = new Map<MessageId, { queued: number; done: number }>()
  const countOf = (id: MessageId) => {
    const count = counts.get(id) ?? { queued: 0, done: 0 }
    counts.set(id, count)
    return count
  }
  const retired = new Set<MessageId>()
  for (const event of events) {
    if (event.type === 'messages-retired') for (const id of event.messageIds) retired.add(id)
    if (event.type === 'input-queued') countOf(event.input.id).queued++
    if (event.type === 'input-joined' || event.type === 'input-withdrawn') {
      countOf(event.messageId).done++
    }
    // An edit that keeps the id replaces a message that was answered.
    if (event.type === 'message-added' && !retired.has(event.messageId)) {
      const count = counts.get(event.messageId)
      if (count !== undefined) count.done++
    }
  }
  for (const { id } of queue) countOf(id).done++
  for (const [id, { queued, done }] of counts) {
    if (queued === done) continue
    report('IN6', `${id} was stored to wait ${queued} times, and was answered ${done} times`)
  }
}
