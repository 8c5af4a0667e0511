import type { ModelMessage } from 'ai'
import type { MessageId, ThreadId } from '../../core/ids.ts'
import { callsOf, type Turn } from '../../core/message.ts'
import { projectPrompt } from '../../views/model-prompt.ts'
import type { Engine } from '../engine.ts'
import { isClients, isDecided } from './judge-recording.ts'
import { readPromptHistory } from '../model/read-history.ts'
import { noToolbox } from '../agent/tool-policy.ts'

/**
 * Calls the host application's `resumeRecorded` once everything that its turn waited for has arrived. The engine never
 * continues such a turn itself: it has neither the tools nor the model of that loop.
 */
export async function resumeRecorded(
  engine: Engine,
  threadId: ThreadId,
  turnId: MessageId,
): Promise<void> {
  const { resumeRecorded: resume } = engine.options
  if (resume === undefined || engine.continuations.has(turnId)) return
  const turn = await engine.store.readMessage(threadId, turnId)
  if (turn?.role !== 'assistant' || turn.progress.status !== 'waiting' || isWaiting(turn)) return
  const messages = await readModelMessages(engine, threadId)
  const begun = new Promise<void>((resolve) => {
    engine.continuations.set(turnId, resolve)
  })
  try {
    // The decision request is answered when the host application has begun to continue, not when it is done.
    await Promise.race([begun, Promise.resolve(resume({ threadId, turnId, messages }))])
  } catch (error) {
    // The decision is stored; the host application can continue the turn later.
    engine.emit({ type: 'recovery-failed', error })
  } finally {
    engine.continuations.delete(turnId)
  }
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
