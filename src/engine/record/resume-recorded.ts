import type { ModelMessage } from 'ai'
import type { MessageId, ThreadId } from '../../core/ids.ts'
import { callsOf, type Turn } from '../../core/message.ts'
import { projectPrompt } from '../../views/model-prompt.ts'
import type { Engine } from '../engine.ts'
import { isClients, isDecided } from './judge-recording.ts'
import { readPromptHistory } from '../model/read-history.ts'
import { noToolbox } from '../agent/tool-policy.ts'

/** How long after the decision the thread is read again, if it could not be read. */
const readAgainMs = [1_000, 2_000, 4_000, 8_000, 16_000]

/**
 * Calls the host application's `resumeRecorded` once everything that its turn waited for has arrived. The engine never
 * continues such a turn itself: it has neither the tools nor the model of that loop.
 *
 * Never rejects: the decision is stored, and whoever made it must not be told otherwise.
 */
export async function resumeRecorded(
  engine: Engine,
  threadId: ThreadId,
  turnId: MessageId,
  nth = 0,
): Promise<void> {
  const { resumeRecorded: resume } = engine.options
  if (resume === undefined || engine.continuations.has(turnId)) return
  // The decision request is answered when the host application has begun to continue, not when it is done.
  const begun = Promise.withResolvers<void>()
  const failed = (error: unknown) => engine.emit({ type: 'recovery-failed', error })
  const reading = readToResume(engine, threadId, turnId).catch((error: unknown) => {
    failed(error)
    const ms = readAgainMs[nth]
    if (ms === undefined || engine.isShut()) return null
    const again = () => {
      if (!engine.isShut()) void resumeRecorded(engine, threadId, turnId, nth + 1)
    }
    engine.clock.after(ms, again, true)
    return null
  })
  engine.reading.add(reading)
  const messages = await reading
  engine.reading.delete(reading)
  if (messages === null || engine.continuations.has(turnId)) return
  engine.continuations.set(turnId, begun.resolve)
  try {
    await Promise.race([begun.promise, Promise.resolve(resume({ threadId, turnId, messages }))])
  } catch (error) {
    // The host application can continue the turn later.
    failed(error)
  } finally {
    engine.continuations.delete(turnId)
  }
}

/** Null: the turn still waits, or goes on already. */
async function readToResume(
  engine: Engine,
  threadId: ThreadId,
  turnId: MessageId,
): Promise<ModelMessage[] | null> {
  const turn = await engine.store.readMessage(threadId, turnId)
  if (turn?.role !== 'assistant' || turn.progress.status !== 'waiting' || isWaiting(turn))
    return null
  return readModelMessages(engine, threadId)
}

const isWaiting = (turn: Turn): boolean =>
  [...callsOf(turn)].some(
    (call) => call.state === 'awaiting-approval' || (isClients(call) && !isDecided(call)),
  )

/** The prompt of a thread, for the host application's own loop. */
export async function readModelMessages(
  { store, options, agents }: Engine,
  threadId: ThreadId,
): Promise<ModelMessage[]> {
  const { maxOutputChars } = options
  const { messages } = await readPromptHistory(store, { threadId, before: null, maxOutputChars })
  return projectPrompt(options.selectHistory(messages), {
    isDeferred: (agents.fixed?.toolbox ?? noToolbox).isDeferred,
    approvals: 'sdk',
    maxOutputChars,
  }) as ModelMessage[]
}
