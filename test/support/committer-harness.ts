import { HoldfastError } from '../../src/core/holdfast-error.ts'
import { parseMessageId, parseOwnerId, parseThreadId } from '../../src/core/ids.ts'
import { createCommitter } from '../../src/engine/run/committer.ts'
import { memory } from '../../src/store/memory/memory-store.ts'
import { type Append, type PlannedCommit, planCommit } from '../../src/store/plan-commit.ts'
import type { AppendResult, Store } from '../../src/store/store.ts'
import { createScriptedClock } from './scripted-clock.ts'

/** What the store does with the next group; without it, what the memory store does. */
export type Reaction = (plans: readonly PlannedCommit[]) => Promise<readonly AppendResult[]>

/** A committer over a store of which each reaction can be chosen. Its timers fire `earlyMs` before their time. */
export function openCommitter({ earlyMs = 0 }: { readonly earlyMs?: number } = {}) {
  const clock = createScriptedClock()
  const inner = memory({ now: clock.now })
  const groups: string[][] = []
  const seen: (readonly [number, number])[] = []
  let react: Reaction | null = null
  const store: Store = {
    ...inner,
    commit(plans) {
      groups.push(plans.map(({ append }) => append.threadId))
      return react === null ? inner.commit(plans) : react(plans)
    },
  }
  let jumpMs = 0
  const after = (ms: number, call: () => void) =>
    clock.after(ms > earlyMs ? ms - earlyMs : ms, call)
  const jumping = { ...clock, after, now: () => clock.now() + jumpMs, elapsed: clock.now }
  const committer = createCommitter(store, jumping, {
    committed: (appends, events) => seen.push([appends, events]),
  })
  const results = new Map<string, string>()
  const errors = new Map<string, unknown>()
  const fences = new Map<string, number>()
  const submit = (name: string, append: Partial<Append> = {}, writer?: 'run') => {
    void committer.submit(plan(name, append), writer).then(
      (result) => results.set(name, result.kind),
      (error: unknown) => {
        errors.set(name, error)
        results.set(name, error instanceof HoldfastError ? error.code : (error as Error).message)
      },
    )
  }
  return {
    clock,
    /** What the time is set to, from here on. */
    jump: (ms: number) => void (jumpMs += ms),
    committer,
    groups,
    seen,
    submit,
    /** A message of a person: it makes the thread and takes the lease. */
    person: (name: string) => submit(name),
    /** A write of a run that holds the lease. The threads of runs are there. */
    run: (name: string) => submit(name, { lease: { kind: 'hold', fence: fences.get(name) ?? 0 } }),
    /** The same without an event, for so long. 0: a hand-over. */
    renew: (name: string, renewMs: number) =>
      submit(name, {
        ...{ events: [], create: undefined as never, expectedSeq: undefined as never },
        lease: { kind: 'hold', fence: fences.get(name) ?? 0, renewMs },
      }),
    until: (next: Reaction | null) => void (react = next),
    results: () => Object.fromEntries(results),
    errorOf: (name: string) => errors.get(name),
    stored: async (name: string) => (await inner.readThread(parseThreadId(name)))?.seq ?? null,
    commitDirectly: (plans: readonly PlannedCommit[]) => inner.commit(plans),
    createRunning: async (...names: readonly string[]) => {
      const lease = {
        kind: 'acquire',
        holder: 'h',
        ttlMs: 600_000,
        turnId: parseMessageId('m'),
      } as const
      const results = await inner.commit(names.map((name) => plan(name, { lease, events: [] })))
      for (const [index, result] of results.entries()) {
        if (result.kind === 'appended') fences.set(names[index] as string, result.fence ?? 0)
      }
    },
  }
}

function plan(name: string, change: Partial<Append>): PlannedCommit {
  const message = { type: 'message-added', role: 'user', at: 1, parts: [] } as const
  const planned = planCommit({
    threadId: parseThreadId(name),
    events: [{ ...message, messageId: parseMessageId(`u-${name}`) }],
    expectedSeq: 0,
    create: { ownerId: parseOwnerId('o'), title: '', at: 1 },
    ...change,
  })
  if ('kind' in planned) throw new Error(planned.kind)
  return planned
}

export const temporary = () => new HoldfastError('store-locked', 'Locked.', { isTemporary: true })
export const inDoubt = () => new HoldfastError('store-failed', 'Nobody knows.')
