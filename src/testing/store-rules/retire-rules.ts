import assert from 'node:assert/strict'
import { foldThread } from '../../core/fold-thread.ts'
import { parseMessageId } from '../../core/ids.ts'
import { isTurn } from '../../core/message.ts'
import { newestFirst, nothing, readAllPages, readChanges, readPage } from './read-thread.ts'
import type { StoreRule } from './store-rule.ts'
import {
  append,
  at,
  createThread,
  ended,
  idsOf,
  message,
  messageAdded,
  started,
  text,
  thread,
  tryAppend,
  turn,
  user,
} from './thread-script.ts'

export const retireRules: readonly StoreRule[] = [
  {
    id: 'PG2',
    claim: 'leaves retired messages out of every page and keeps them in the ledger',
    async check({ open, reopen }) {
      const first = await open()
      await createThread(first)
      const second = parseMessageId('second')
      await append(first, [message(1), started(), ...text('One'), ended()])
      const retired = { type: 'messages-retired', messageIds: [turn], at } as const
      await append(first, [retired, started(second), ...text('Two', second)])
      await append(first, [message(2)])
      await append(first, [{ ...retired, messageIds: [parseMessageId('message-2')] }])
      const store = await reopen(first)
      for (const limit of [1, 2, 3]) {
        assert.deepEqual(idsOf(await readAllPages(store, limit)), [second, 'message-1'])
      }
      const found = await store.readMessage(thread, turn)
      assert.ok(found !== null && isTurn(found) && found.steps.length === 1)
      assert.equal((await store.findTurn(turn))?.threadId, thread)
      const { changes } = await readChanges(store, 0)
      const kinds = changes.map((one) => (one.kind === 'turn' ? one.turn.id : one.event.type))
      assert.deepEqual(kinds.slice(0, 3), ['message-added', turn, 'messages-retired'])
      assert.deepEqual(kinds.slice(-2), ['message-added', 'messages-retired'])
    },
  },
  {
    id: 'PG2',
    claim: 'accepts another message with the id of a retired one, and shows only the new one',
    async check({ open, reopen }) {
      const first = await open()
      await createThread(first)
      const edit = (words: string) => [
        { type: 'messages-retired', messageIds: [user], at } as const,
        messageAdded(words),
      ]
      await append(first, [messageAdded('One'), message(1)])
      await append(first, edit('Two'))
      await append(first, edit('Three'))
      const exists = { kind: 'illegal', subject: 'message', id: user, state: 'exists' }
      assert.deepEqual(await tryAppend(first, [messageAdded('Four')]), exists)
      const store = await reopen(first)
      const { messages } = await readPage(store)
      assert.deepEqual(idsOf(messages), [user, 'message-1'])
      assert.deepEqual(await store.readMessage(thread, user), messages[0])
      assert.ok(messages[0] !== undefined && !isTurn(messages[0]))
      assert.deepEqual(messages[0].parts, [{ type: 'text', text: 'Three' }])
      const { changes } = await readChanges(store, 0)
      const types = changes.map((one) => one.kind === 'event' && one.event.type)
      const edited = ['messages-retired', 'message-added']
      assert.deepEqual(types, ['message-added', 'message-added', ...edited, ...edited])
      assert.deepEqual(newestFirst(foldThread(nothing, changes)), messages)
    },
  },
]
