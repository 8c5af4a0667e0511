import { isTurnEvent, type LedgerEvent } from '../../core/event.ts'
import { toUserMessage } from '../../core/fold-thread.ts'
import type { MessageId, Seq } from '../../core/ids.ts'
import { isOpenState } from '../../core/call.ts'
import type { CallLife } from '../../core/life.ts'
import type { AppendPlan } from '../plan-append.ts'
import type { Append, AppendResult, LeaseUse } from '../store.ts'
import {
  type MemoryLease,
  type MemoryThread,
  readMemoryCalls,
  readMemoryTurn,
} from './memory-thread.ts'

export interface AppendContext {
  readonly now: () => number
  readonly isAlive: (holder: string) => boolean
  readonly nextActivity: () => number
}

type Refusal = Exclude<AppendResult, { readonly kind: 'appended' }>
type LeaseChange = { readonly fence: number; readonly lease: MemoryLease | null }

/** Everything is checked before anything is written, so a refusal leaves no trace. */
export function appendToMemory(
  stored: MemoryThread,
  append: Append,
  plan: AppendPlan,
  context: AppendContext,
): AppendResult {
  const before = stored.thread.seq
  if (append.expectedSeq !== undefined && append.expectedSeq !== before) {
    return { kind: 'stale', seq: before }
  }
  const lease = checkLease(stored, append.lease, context)
  if ('kind' in lease) return lease
  const refusal = findIllegal(stored, append, plan)
  if (refusal !== undefined) return refusal

  const seq = before + plan.size
  write(stored, append, seq)
  if (append.lease?.kind === 'acquire') stored.stopFence = null
  stored.fence = lease.fence
  stored.lease = lease.lease
  const activity = plan.activityAt === null ? {} : { activity: context.nextActivity() }
  stored.thread = {
    ...stored.thread,
    ...activity,
    seq,
    title: plan.title ?? stored.thread.title,
    updatedAt: plan.activityAt ?? stored.thread.updatedAt,
  }
  for (const id of append.seal ?? []) sealTurn(stored, id, seq)
  return {
    kind: 'appended',
    firstSeq: before + 1,
    seq,
    ...(append.lease === undefined ? {} : { fence: lease.fence }),
    stopRequested: stored.stopFence === stored.fence && stored.lease !== null,
  }
}

function checkLease(
  stored: MemoryThread,
  use: LeaseUse | undefined,
  { now, isAlive, nextActivity }: AppendContext,
): LeaseChange | Refusal {
  const { fence, lease } = stored
  if (use === undefined) return { fence, lease }
  if (use.kind === 'acquire') {
    const held = lease !== null && lease.until > now() && isAlive(lease.holder)
    if (held && use.overFence !== fence) {
      return { kind: 'leased', holder: lease.holder, turnId: lease.turnId, fence }
    }
    const { holder, turnId, ttlMs } = use
    // Of the whole store: a thread that is made anew under an old id does not begin again.
    return { fence: nextActivity(), lease: { holder, turnId, until: now() + ttlMs } }
  }
  if (lease === null || use.fence !== fence) return { kind: 'fenced', fence }
  if (use.kind === 'release') return { fence, lease: null }
  const until = use.renewMs === undefined ? lease.until : now() + use.renewMs
  return { fence, lease: { ...lease, until } }
}

function findIllegal(stored: MemoryThread, append: Append, plan: AppendPlan): Refusal | undefined {
  const shown = new Set(
    stored.messages.filter(({ retiredSeq }) => retiredSeq === null).map(({ id }) => id),
  )
  for (const id of plan.retired) {
    if (!shown.delete(id)) return { kind: 'illegal', subject: 'message', id, state: 'absent' }
  }
  for (const { id } of plan.messages) {
    if (shown.has(id)) return { kind: 'illegal', subject: 'message', id, state: 'exists' }
    shown.add(id)
  }
  const lives = new Map<string, CallLife>()
  if (plan.calls.size > 0 || plan.turns.size > 0) {
    for (const [id, call] of readMemoryCalls(stored)) {
      lives.set(`${call.turnId}\n${id}`, call.life)
      const planned = plan.calls.get(id)
      if (planned === undefined) continue
      const life = planned.turnId === call.turnId ? planned.paths.get(call.life) : undefined
      if (life === undefined) return { kind: 'illegal', subject: 'call', id, state: call.life }
    }
  }
  for (const [id, planned] of plan.calls) {
    const key = `${planned.turnId}\n${id}`
    const life = planned.paths.get(lives.get(key) ?? 'absent')
    if (life === undefined) return { kind: 'illegal', subject: 'call', id, state: 'absent' }
    lives.set(key, life)
  }
  const ended = new Set<MessageId>()
  for (const [id, planned] of plan.turns) {
    const state = readMemoryTurn(stored, id)?.progress.status ?? 'absent'
    const status = planned.paths.get(state)
    if (status === undefined) return { kind: 'illegal', subject: 'turn', id, state }
    if (status === 'ended') ended.add(id)
    const open = [...lives].some(
      ([key, life]) => key.startsWith(`${id}\n`) && life !== 'skipped' && isOpenState(life),
    )
    if (planned.ends && open) return { kind: 'illegal', subject: 'turn', id, state: 'open-calls' }
  }
  for (const id of append.seal ?? []) {
    const state = readMemoryTurn(stored, id)?.progress.status ?? 'absent'
    if (ended.has(id) || (state === 'ended' && !plan.turns.has(id))) continue
    return { kind: 'illegal', subject: 'turn', id, state: plan.turns.has(id) ? 'running' : state }
  }
  return undefined
}

function write(stored: MemoryThread, append: Append, commit: number): void {
  let { seq } = stored.thread
  for (const event of append.events) {
    seq++
    // What a database would give back: plain JSON, shared with nobody.
    const fact = { ...(JSON.parse(JSON.stringify(event)) as typeof event), seq } as LedgerEvent
    if (fact.type === 'message-added') {
      const user = toUserMessage(fact)
      stored.messages.push({ seq, commit, id: user.id, retiredSeq: null, user })
      continue
    }
    if (fact.type === 'turn-started') {
      const { turnId: id, at: createdAt } = fact
      stored.messages.push({ seq, commit, id, retiredSeq: null, sealed: null, createdAt })
    }
    if (fact.type === 'messages-retired' && fact.from === undefined) {
      const gone = new Set(fact.messageIds)
      for (const entry of stored.messages) if (gone.has(entry.id)) entry.retiredSeq ??= seq
    }
    stored.events.push({ event: fact, commit })
  }
}

function sealTurn(stored: MemoryThread, id: MessageId, commit: Seq): void {
  const sealed = readMemoryTurn(stored, id)
  const entry = stored.messages.find((message) => message.id === id)
  if (sealed === null || entry === undefined || 'user' in entry) return
  entry.sealed = { turn: sealed, commit }
  stored.events = stored.events.filter(({ event }) => !(isTurnEvent(event) && event.turnId === id))
}
