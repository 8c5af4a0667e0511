import {
  createHoldfast,
  type HoldfastOptions,
  memory,
  parseThreadId,
  type Store,
  type ThreadId,
  type Turn,
} from 'holdfast'
import { type ScriptedCall, type ScriptPart, scriptedModel } from 'holdfast/testing'
import { expect } from 'vitest'
import { createFixture, type Script } from './fixture.ts'

/** A store as one process sees it: once cut, nothing of what it does arrives any more. */
function killable(store: Store): { readonly store: Store; readonly kill: () => void } {
  let dead = false
  const never = new Promise<never>(() => {})
  const guard =
    <Args extends readonly unknown[], Result>(verb: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      if (dead) return never
      const result = await verb(...args)
      return dead ? never : result
    }
  return {
    kill: () => {
      dead = true
    },
    store: {
      ...store,
      commit: guard(store.commit.bind(store)),
      readMessage: guard(store.readMessage.bind(store)),
    },
  }
}

export interface Crash {
  /** What the first process's model says. */
  readonly script: readonly ScriptPart[]
  readonly options?: Partial<HoldfastOptions>
  /** What the second one's says, to the prompt that it is sent. */
  readonly after?: readonly ScriptPart[] | Script
  /** How the second process differs. */
  readonly optionsAfter?: Partial<HoldfastOptions>
}

/** Runs a turn in one process until `reached`, kills it, and lets another process take over. */
export async function crash(
  { script, options = {}, optionsAfter = {}, after = [{ text: 'carried on' }] }: Crash,
  reached: (turn: Turn) => boolean,
) {
  const alive = new Set(['first', 'second'])
  const shared = memory({ isAlive: (holder) => alive.has(holder) })
  const first = killable(shared)
  const fixture = await createFixture(() => script, {
    ...options,
    store: first.store,
    holder: 'first',
  })
  await fixture.send('go')
  await fixture.until(({ messages }) => {
    const turn = messages.at(-1)
    return turn?.role === 'assistant' && reached(turn)
  })
  first.kill()
  alive.delete('first')
  const calls: ScriptedCall[] = []
  const holdfast = createHoldfast({
    model: scriptedModel((call) => (typeof after === 'function' ? after(call) : after), {
      onCall: (call) => calls.push(call),
    }),
    recoverEveryMs: 0,
    ...options,
    ...optionsAfter,
    store: shared,
    holder: 'second',
  })
  expect(await holdfast.recover()).toBe(1)
  await holdfast.settled()
  const turn = await lastTurn(shared)
  return { holdfast, store: shared, threadId: fixture.threadId, turn, calls }
}

export async function lastTurn(
  store: Store,
  threadId: ThreadId = parseThreadId('thread-1'),
): Promise<Turn> {
  const page = await store.readPage({
    threadId,
    limit: 1,
    before: null,
    live: 'include',
    results: 'full',
  })
  const turn = page?.messages[0]
  if (turn?.role !== 'assistant') throw new Error('no turn')
  return turn
}
