import type { NewEvent } from '../core/event.ts'
import type { Seq, ThreadId } from '../core/ids.ts'
import type { Message } from '../core/message.ts'
import { createIdKeeper, type NamedMessage, toUnits, type Unit } from '../import/import-units.ts'
import type { OldMessage } from '../import/old-message.ts'
import { isImported, toOldMessage } from '../import/turn-events.ts'
import type { PausableWork } from '../core/pausable-work.ts'
import { addNode, type VersionNode, type VersionRoot, writeTree } from '../import/version-tree.ts'
import { commitAppend } from '../store/commit-group.ts'
import type { FileRecords } from '../store/file-records.ts'
import type { Store } from '../store/store.ts'
import { readHidden } from './export-versions.ts'
import { isOpenPage } from './import-writer.ts'
import { bytesPerSlice, createPacer, runPaced } from '../store/pacer.ts'

type DryNode = VersionNode & { readonly item: NamedMessage & { readonly stored: Message } }

/**
 * A store that reads from `base` and writes to `scratch`, so that an import can be tried: a thread is copied
 * to `scratch` before the first write to it. Its results are those that `base` would return.
 */
export function createDryStore(base: Store, scratch: Store): Store {
  const copied = new Set<ThreadId>()

  /** Copies the thread with its history, if `base` has it. */
  const bringOver = async (threadId: ThreadId): Promise<void> => {
    if (copied.has(threadId)) return
    const found = await base.readThread(threadId)
    if (found === null) return
    copied.add(threadId)
    const { id, ownerId, title, createdAt } = found
    await scratch.createThread({ id, ownerId, title, at: createdAt })
    const pace = createPacer()
    const root: VersionRoot = { children: [] }
    const nodes = new Map<Seq, DryNode>()
    let last: VersionRoot = root
    const add = (message: Message, above: VersionRoot, hiddenSeq?: Seq): DryNode => {
      const item = { id: message.id, message: toOldMessage(message), index: 0, stored: message }
      const node = { item, children: [], ...(hiddenSeq === undefined ? {} : { hiddenSeq }) }
      addNode(above, node)
      nodes.set(message.seq, node)
      return node
    }
    for (let before: number | null = null; ;) {
      await pace()
      const query = { threadId, limit: 200, before, live: 'exclude', results: 'full' } as const
      const page = await base.readPage({
        ...{ ...query, order: 'oldest-first', maxBytes: bytesPerSlice },
      })
      for (const message of page?.messages ?? []) last = add(message, last)
      before = page?.messages.at(-1)?.seq ?? null
      if (page?.hasMore !== true || before === null) break
    }
    for await (const { message, parent, hiddenSeq } of readHidden(base, threadId)) {
      add(message, nodes.get(parent) ?? root, hiddenSeq)
    }
    const toUnit = function* (item: NamedMessage): PausableWork<Unit> {
      const { stored, message } = item as DryNode['item']
      const events = yield* toEvents(stored, message)
      return { id: item.id, isTurn: message.kind === 'turn', states: [], events }
    }
    const options = { from: 1, first: 1, at: 0, toUnit }
    const { appends } = await runPaced(writeTree(root, options), pace)
    let expectedSeq = 0
    for (const events of appends) {
      await commitAppend(scratch, { threadId, events, expectedSeq })
      expectedSeq += events.length
    }
    const { queue } = found
    if (queue.length === 0) return
    const waiting = queue.map(({ held: _, at, ...input }): NewEvent => ({
      type: 'input-queued',
      input,
      at,
    }))
    const events: readonly NewEvent[] = [...waiting, { type: 'queue-held', at: 0 }]
    await commitAppend(scratch, { threadId, events, expectedSeq, queue: [] })
  }

  const { audit: _, ...verbs } = scratch
  return {
    ...verbs,
    ...(base.files === undefined ? {} : { files: { ...base.files, reserve: readOwn(base.files) } }),
    async createThread(wanted) {
      const found = copied.has(wanted.id) ? null : await base.readThread(wanted.id)
      if (found === null) return scratch.createThread(wanted)
      if (found.ownerId !== wanted.ownerId) return { kind: 'taken' }
      await bringOver(wanted.id)
      return { kind: 'exists', thread: found }
    },
    // Not copied for this alone: it may be another owner's.
    readThread: async (id) => (await scratch.readThread(id)) ?? base.readThread(id),
    async readPage(query) {
      await bringOver(query.threadId)
      // Whether a turn runs or waits in the thread is only known to `base`.
      const needsLive = copied.has(query.threadId) && query.live === 'exclude'
      const page = needsLive ? await base.readPage(query) : null
      return page === null || !isOpenPage(page) ? scratch.readPage(query) : page
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

/** The same files as `reserve` returns, without reserving them. */
const readOwn =
  (files: FileRecords): FileRecords['reserve'] =>
  async (ids, ownerId) => {
    const found = await Promise.all(ids.map((id) => files.read(id)))
    return found.filter((file) => file?.ownerId === ownerId).filter((file) => file !== null)
  }

function* toEvents(message: Message, old: OldMessage): PausableWork<readonly NewEvent[]> {
  const { id, createdAt: at } = message
  const options = {
    ...{ at, ids: createIdKeeper(id), replyTo: null, isFollowed: false },
    mendAt: () => () => {},
  }
  const [unit] = yield* toUnits([{ id, index: 0, message: old }], options)
  const events = unit?.events ?? []
  // A turn of the engine must not look imported in the copy, or the import would rewrite it.
  return events.map((event) =>
    event.type === 'turn-started' && !isImported(message) ? { ...event, recorded: true } : event,
  )
}
