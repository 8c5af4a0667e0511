import type { NewEvent } from '../core/event.ts'
import type { ThreadId } from '../core/ids.ts'
import type { Message } from '../core/message.ts'
import { createIdKeeper, toUnits } from '../import/import-units.ts'
import { isImported, toOldMessage } from '../import/stored-message.ts'
import { runToEnd } from '../import/pausable-work.ts'
import { commitAppend } from '../store/commit-group.ts'
import type { Store } from '../store/store.ts'

/**
 * A store that reads what is stored and writes elsewhere, so that an import can be tried: a thread that
 * it wants to write to is brought over first. What it then says is what the real one would say.
 */
export function createDryStore(base: Store, scratch: Store): Store {
  const copied = new Set<ThreadId>()

  const bringOver = async (threadId: ThreadId): Promise<void> => {
    copied.add(threadId)
    for (let before: number | null = null; ;) {
      const query = { threadId, limit: 200, before, live: 'exclude', results: 'full' } as const
      const page = await base.readPage({ ...query, order: 'oldest-first' })
      if (page === null) return
      for (const message of page.messages) {
        const expectedSeq = (await scratch.readThread(threadId))?.seq ?? 0
        await commitAppend(scratch, { threadId, events: toEvents(message), expectedSeq })
      }
      before = page.messages.at(-1)?.seq ?? null
      if (!page.hasMore || before === null) return
    }
  }

  const { audit: _, ...verbs } = scratch
  return {
    ...verbs,
    async createThread(wanted) {
      const found = copied.has(wanted.id) ? null : await base.readThread(wanted.id)
      if (found === null) return scratch.createThread(wanted)
      if (found.ownerId !== wanted.ownerId) return { kind: 'taken' }
      const { id, ownerId, title, createdAt: at } = found
      const created = await scratch.createThread({ id, ownerId, title, at })
      if (created.kind === 'created') await bringOver(id)
      return { kind: 'exists', thread: found }
    },
    async readPage(query) {
      // Whether somebody is answering in it is seen where they are.
      const isAsked = copied.has(query.threadId) && query.live === 'exclude'
      const page = isAsked ? await base.readPage(query) : null
      return page?.live == null ? scratch.readPage(query) : page
    },
    async readMessage(threadId, messageId, results) {
      const found = await scratch.readMessage(threadId, messageId, results)
      return found ?? (copied.has(threadId) ? base.readMessage(threadId, messageId, results) : null)
    },
    async findTurn(messageId, results) {
      return (await scratch.findTurn(messageId, results)) ?? base.findTurn(messageId, results)
    },
  }
}

function toEvents(message: Message): readonly NewEvent[] {
  const { id, createdAt: at } = message
  const old = toOldMessage(message)
  const options = {
    ...{ at, ids: createIdKeeper(id), replyTo: null, isFollowed: false },
    mendAt: () => () => {},
  }
  const [unit] = runToEnd(toUnits([{ id, index: 0, message: old }], options))
  const events = unit?.events ?? []
  // What is not an import's must not look like one: nobody may rewrite it.
  return events.map((event) =>
    event.type === 'turn-started' && !isImported(message) ? { ...event, recorded: true } : event,
  )
}
