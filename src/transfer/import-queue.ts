import { setTimeout } from 'node:timers/promises'
import type { NewEvent } from '../core/event.ts'
import { isMessageId } from '../core/ids.ts'
import { isQueueFull } from '../core/queue.ts'
import type { InputQueue, NewInput, QueuedInput } from '../core/queued-input.ts'
import { withDefined } from '../core/with-defined.ts'
import { createReport } from '../import/old-message.ts'
import { parseUserParts } from '../protocol/chat-body.ts'
import { createPacer, type Pacer, runPaced } from '../store/pacer.ts'
import { planInSteps } from '../store/plan-commit.ts'
import { retryWhileStale } from '../store/retry-while-stale.ts'
import type { Store } from '../store/store.ts'
import { parseShownQueue } from '../views/queue-view.ts'
import type { ReportWriter } from './import-report.ts'
import { commitWhenFree, isBusy, isHeld, isOpenPage, newest } from './import-writer.ts'
import { reportMissingFiles } from './own-files.ts'
import type { PlacedValue } from './thread-intake.ts'
import type { ThreadSession } from './thread-session.ts'

interface PlacedInput {
  readonly where: string
  readonly input: NewInput
  readonly at: number
}

/**
 * Brings back what waited in a thread when it was exported, as held: nobody is there who waits for an answer (IN5). An id
 * that the thread knows is not brought again.
 */
export async function importQueue(
  store: Store,
  session: ThreadSession,
  values: readonly PlacedValue[],
  report: ReportWriter,
  now: () => number,
): Promise<void> {
  const { id: threadId, ownerId } = session
  const pace = createPacer()
  const inputs: PlacedInput[] = []
  for (const { where, value } of values) {
    await pace()
    const input = toInput(where, value, report, now())
    if (input !== undefined) inputs.push(input)
  }
  const files = createReport((index) => inputs[index]?.where ?? '')
  const messages = inputs.map(({ input: { parts } }, index) => ({
    index,
    message: { kind: 'user', role: 'user', parts } as const,
  }))
  await reportMissingFiles(store, ownerId, messages, files, pace)
  const refused = await retryWhileStale(setTimeout, async () => {
    const page = await store.readPage(newest(threadId))
    if (page === null) return inputs.map((placed) => ({ placed, why: 'The thread is gone.' }))
    if (isOpenPage(page)) return inputs.map((placed) => ({ placed, why: isBusy }))
    const { fresh, left } = await findFresh(store, session, page.queue, inputs, pace)
    if (fresh.length > 0) {
      const queued = fresh.map(({ input, at }): NewEvent => ({ type: 'input-queued', input, at }))
      const events: readonly NewEvent[] = [...queued, { type: 'queue-held', at: now() }]
      const { seq: expectedSeq, queue, place } = page
      const { incarnation } = place ?? {}
      const append = { threadId, events, expectedSeq, incarnation, queue }
      const planned = await runPaced(planInSteps(append), pace)
      const { kind } = 'kind' in planned ? planned : await commitWhenFree(store, planned)
      if (kind === 'stale') return 'stale'
      if (kind === 'held') return fresh.map((placed) => ({ placed, why: isHeld }))
      if (kind !== 'appended') return fresh.map((placed) => ({ placed, why: `Refused: ${kind}.` }))
    }
    report.count({
      messages: inputs.length - left.length,
      skipped: inputs.length - left.length - fresh.length,
    })
    return left.map((placed) => ({ placed, why: 'No more messages can wait in this thread.' }))
  })
  for (const { where, what } of files.mended) report.mend(where, what)
  for (const { placed, why } of refused) report.fail(placed.where, why)
}

/** Those that the thread does not know, as many as may wait in it (IN6), and those that are over that. */
async function findFresh(
  store: Store,
  { id: threadId }: ThreadSession,
  queue: InputQueue,
  inputs: readonly PlacedInput[],
  pace: Pacer,
): Promise<{ readonly fresh: readonly PlacedInput[]; readonly left: readonly PlacedInput[] }> {
  const fresh: PlacedInput[] = []
  const left: PlacedInput[] = []
  let waiting: readonly QueuedInput[] = queue
  /** What is as long as one that was over the limit is over it too: the whole queue need not be measured again. */
  let tooLong = Number.POSITIVE_INFINITY
  for (const placed of inputs) {
    await pace()
    const { input, at } = placed
    const isKnown =
      waiting.some(({ id }) => id === input.id) ||
      (await store.readMessage(threadId, input.id, 'lazy')) !== null ||
      ((await store.findInput?.(threadId, input.id)) ?? null) !== null
    if (isKnown) continue
    const more = [...waiting, { ...input, held: true, at }]
    const chars = JSON.stringify(more.at(-1)).length
    if (chars >= tooLong || isQueueFull(more)) {
      tooLong = Math.min(tooLong, chars)
      left.push(placed)
    } else {
      fresh.push(placed)
      waiting = more
    }
  }
  return { fresh, left }
}

function toInput(
  where: string,
  value: unknown,
  report: ReportWriter,
  now: number,
): PlacedInput | undefined {
  const [read] = parseShownQueue([value])
  if (read === undefined || !isMessageId(read.id)) {
    report.fail(where, 'It is not a message that waits.')
    return undefined
  }
  try {
    const { id, metadata, at } = read
    const parts = parseUserParts({ parts: read.parts })
    // What was chosen is left out: nobody has checked it (AG2).
    const input = withDefined({ id, mode: 'queue', parts } as const, { metadata })
    return { where, input, at: Number.isFinite(at) ? at : now }
  } catch (error) {
    report.fail(where, error instanceof Error ? error.message : String(error))
    return undefined
  }
}
