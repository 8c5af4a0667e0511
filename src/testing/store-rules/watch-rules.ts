import assert from 'node:assert/strict'
import { parseMessageId, parseThreadId } from '../../core/ids.ts'
import type { Hint, Store } from '../../store/store.ts'
import { readChanges } from './read-thread.ts'
import type { StoreRule } from './store-rule.ts'
import { append, createThread, ended, say, started, thread, turn } from './thread-script.ts'

interface Watched {
  readonly hints: readonly Hint[]
  /** Resolves with the first hint, past or to come, that fits. */
  readonly until: (fits: (hint: Hint) => boolean) => Promise<Hint>
  readonly stop: () => void
}

function watch(store: Store): Watched {
  const hints: Hint[] = []
  const waiting = new Set<(hint: Hint) => void>()
  const stop = store.watch((hint) => {
    hints.push(hint)
    for (const check of waiting) check(hint)
  })
  return {
    hints,
    stop,
    until(fits) {
      const past = hints.find(fits)
      if (past !== undefined) return Promise.resolve(past)
      return new Promise((resolve) => {
        const check = (hint: Hint) => {
          if (!fits(hint)) return
          waiting.delete(check)
          resolve(hint)
        }
        waiting.add(check)
      })
    },
  }
}

const message = (number: number) => say(`Message ${number}`, parseMessageId(`message-${number}`))

export const watchRules: readonly StoreRule[] = [
  {
    id: 'LG2',
    claim: 'hints at a change once it can be read, to everyone who watches',
    async check({ open }) {
      const store = await open()
      await createThread(store)
      const other = await createThread(store, parseThreadId('other'))
      const watchers = [watch(store), watch(store)]
      for (const number of [1, 2, 3]) {
        await append(store, [message(number)])
        for (const watcher of watchers) {
          await watcher.until((hint) => hint.threadId === thread && hint.seq === number)
        }
        const { changes } = await readChanges(store, number - 1)
        assert.equal(changes.length, 1)
      }
      await append(store, [message(1)], { threadId: other })
      for (const watcher of watchers) {
        await watcher.until((hint) => hint.threadId === other && hint.seq === 1)
        watcher.stop()
      }
    },
  },
  {
    id: 'LG3',
    claim: 'does not hint at what it refused',
    async check({ open }) {
      const store = await open()
      await createThread(store)
      const other = await createThread(store, parseThreadId('other'))
      const { hints, until, stop } = watch(store)
      await store.commit([
        { threadId: thread, events: [ended()] },
        { threadId: thread, events: [message(1)], expectedSeq: 7 },
        { threadId: other, events: [message(1)] },
      ])
      await until((hint) => hint.threadId === other)
      stop()
      assert.deepEqual(
        hints.filter((hint) => hint.threadId === thread),
        [],
      )
    },
  },
  {
    id: 'ST1',
    claim: 'hints at a request to stop, so that the run need not wait for its next commit',
    async check({ open }) {
      const store = await open()
      await createThread(store)
      const ttlMs = 60_000
      const lease = { kind: 'acquire', holder: 'one', turnId: turn, ttlMs } as const
      await append(store, [started()], { lease })
      const { until, stop } = watch(store)
      await store.requestStop(thread)
      assert.equal((await until((hint) => hint.stop === true)).threadId, thread)
      stop()
    },
  },
  {
    id: 'RS2',
    claim: 'hints at the end of a thread, and at nothing after one stops watching',
    async check({ open }) {
      const store = await open()
      await createThread(store)
      const other = await createThread(store, parseThreadId('other'))
      await append(store, [message(1)])
      const early = watch(store)
      early.stop()
      const { until, stop } = watch(store)
      await store.deleteThread(thread)
      await until((hint) => hint.seq === 0 && (hint.threadId === thread || hint.threadId === null))
      await append(store, [message(1)], { threadId: other })
      await until((hint) => hint.threadId === other)
      stop()
      assert.deepEqual(early.hints, [])
    },
  },
]
