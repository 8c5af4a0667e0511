import { isOpenCall } from '../../core/call.ts'
import type { ThreadId } from '../../core/ids.ts'
import { callsOf } from '../../core/message.ts'
import { checkPages } from './check-pages.ts'
import { isOver } from './come-to-rest.ts'
import { findDifference } from './same-message.ts'
import type { Senders } from './send-deeds.ts'
import type { World } from './world.ts'

/** At the end nothing is open, nobody runs, nothing that was said is gone, and everyone sees the same. */
export async function checkEnd(world: World, senders: Senders): Promise<void> {
  for (const request of world.requests.open) world.report('CR1', `never answered: ${request}`)
  for (const threadId of world.threads) await checkThread(world, senders, threadId)
}

async function checkThread(world: World, senders: Senders, threadId: ThreadId): Promise<void> {
  const { report, store } = world
  const { view, turns, events } = world.witnessOf(threadId)
  for (const turn of turns.values()) {
    if (!isOver(turn)) report('CR1', `${turn.id} is ${turn.progress.status} for ever`)
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
  for (const id of senders.accepted.get(threadId) ?? []) {
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
    await checkPages(store, threadId, world.witnessOf(threadId), limit, report)
  }
  for (const viewer of world.viewers) {
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
