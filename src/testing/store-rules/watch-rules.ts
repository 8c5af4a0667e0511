import assert from 'node:assert/strict'
import { parseThreadId } from '../../core/ids.ts'
import { readChanges } from './read-thread.ts'
import { commitTogether } from './append-events.ts'
import type { StoreRule } from './store-rule.ts'
import { append, createThread, message, thread } from './thread-script.ts'
import { watchStore } from './watch-store.ts'

export const watchRules: readonly StoreRule[] = [
  {
    id: 'LG2',
    claim: 'notifies every listener of a change once it can be read',
    async check({ open }) {
      const store = await open()
      await createThread(store)
      const other = await createThread(store, parseThreadId('other'))
      const watchers = [watchStore(store), watchStore(store)]
      for (const number of [1, 2, 3]) {
        await append(store, [message(number)])
        for (const watcher of watchers) {
          await watcher.until(
            (notification) => notification.threadId === thread && notification.seq === number,
          )
        }
        const { changes } = await readChanges(store, number - 1)
        assert.equal(changes.length, 1)
      }
      await append(store, [message(1)], { threadId: other })
      for (const watcher of watchers) {
        await watcher.until(
          (notification) => notification.threadId === other && notification.seq === 1,
        )
        watcher.stop()
      }
    },
  },
  {
    id: 'LG3',
    claim: 'does not notify of an append that it refused',
    async check({ open }) {
      const store = await open()
      await createThread(store)
      const other = await createThread(store, parseThreadId('other'))
      const { notifications, until, stop } = watchStore(store)
      await commitTogether(store, [
        { threadId: thread, events: [message(1)], expectedSeq: 7 },
        { threadId: thread, events: [], lease: { kind: 'release', fence: 7 } },
        { threadId: other, events: [message(1)] },
      ])
      await until((notification) => notification.threadId === other)
      stop()
      assert.deepEqual(
        notifications.filter((notification) => notification.threadId === thread),
        [],
      )
    },
  },
  {
    id: 'RS2',
    claim: 'notifies of the deletion of a thread, and of nothing after a listener has stopped',
    async check({ open }) {
      const store = await open()
      await createThread(store)
      const other = await createThread(store, parseThreadId('other'))
      await append(store, [message(1)])
      const early = watchStore(store)
      early.stop()
      const { until, stop } = watchStore(store)
      await store.deleteThread(thread)
      await until(
        (notification) =>
          notification.seq === 0 &&
          (notification.threadId === thread || notification.threadId === null),
      )
      await append(store, [message(1)], { threadId: other })
      await until((notification) => notification.threadId === other)
      stop()
      assert.deepEqual(early.notifications, [])
    },
  },
]
