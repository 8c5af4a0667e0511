import { setImmediate } from 'node:timers/promises'
import { isTurnEvent } from '../../core/event.ts'
import { toUserMessage } from '../../core/fold-thread.ts'
import type { OwnerId, Seq, ThreadId } from '../../core/ids.ts'
import type { Message } from '../../core/message.ts'
import { createPacer, runPaced } from '../../store/pacer.ts'
import type { IndexedText, SearchIndex, UnreadThread } from '../../store/search.ts'
import type { Store } from '../../store/store.ts'
import { findSearchWords, searchTextOf, toSearchWords } from '../../views/search-text.ts'

/**
 * Fills the index of search, in the background and in portions between which other work runs (OP7). Several processes
 * that fill the index of one owner do no harm: a portion is stored only on top of what it was read after.
 */
export interface SearchFiller {
  /**
   * Brings the index of an owner up to date, as far as a search may wait for it, and goes on in the background with what
   * is left. False: something is left.
   */
  readonly fill: (ownerId: OwnerId) => Promise<boolean>
  /** Begins in the background: the first search of a person with a long history then need not wait. */
  readonly prepare: (ownerId: OwnerId) => void
  /** Ends after the portions that are being written. */
  readonly stop: () => Promise<void>
}

/** The number of threads looked up at once, and of changes per read. */
const threadsAtOnce = 50
const changesAtOnce = 200
/**
 * The words of one portion are stored in one transaction: a larger one would block other writers for too long (OP7).
 * Changes are read by their bytes; the messages that they only name may have many more words.
 */
const bytesAtOnce = 65_536
const costAtOnce = 10_000
/**
 * How much a search waits for, in words of texts that are stored: about a second, in which some thousand messages are
 * read. Not measured by the clock, so that what a search finds does not depend on how busy the machine is.
 */
const mostCost = 200_000
/** What a read and a text cost beside their words, in words. */
const costOfRead = 200
const costOfText = 10
/** The rest between two portions while nobody waits for them. */
const restMs = 5

/** One pass over the threads of an owner that are behind in the index. */
interface Pass {
  cost: number
  isOver: boolean
  /** How many searches wait for it: meanwhile it does not rest. */
  waiting: number
  done: Promise<void>
  /** Called after each portion, and to end a rest. */
  readonly listeners: Set<() => void>
}

export function createSearchFiller(store: Store): SearchFiller {
  const passes = new Map<OwnerId, Pass>()
  const queue: OwnerId[] = []
  let isDraining = false
  let isStopped = false

  const begin = (index: SearchIndex, ownerId: OwnerId): Pass => {
    const known = passes.get(ownerId)
    if (known !== undefined) return known
    const pass: Pass = {
      ...{ cost: 0, isOver: false, waiting: 0, done: Promise.resolve() },
      listeners: new Set(),
    }
    const isGoing = async (cost: number) => {
      pass.cost += cost
      for (const listener of pass.listeners) listener()
      await rest(pass)
      return !isStopped
    }
    pass.done = readUnread(store, index, ownerId, isGoing)
      .then((isAll) => {
        pass.isOver = isAll
      })
      .finally(() => passes.delete(ownerId))
    // Whoever waits for it gets the error; the next search begins again.
    pass.done.catch(() => undefined)
    passes.set(ownerId, pass)
    return pass
  }

  /** One owner after the other: a server that starts must not read everything of everybody at once. */
  const drain = async (index: SearchIndex): Promise<void> => {
    if (isDraining) return
    isDraining = true
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      await begin(index, next).done.catch(() => undefined)
    }
    isDraining = false
  }

  return {
    async fill(ownerId) {
      const index = store.search
      if (index === undefined || isStopped) return false
      const running = passes.get(ownerId)
      const left = running === undefined ? mostCost : await waitFor(running, mostCost)
      if (left <= 0) return false
      // The pass before may have been past a thread that has changed since.
      const pass = begin(index, ownerId)
      await waitFor(pass, left)
      return pass.isOver
    },
    prepare(ownerId) {
      const index = store.search
      if (index === undefined || isStopped || queue.includes(ownerId)) return
      queue.push(ownerId)
      void drain(index)
    },
    async stop() {
      isStopped = true
      queue.length = 0
      const running = [...passes.values()]
      for (const { listeners } of running) for (const listener of listeners) listener()
      await Promise.all(running.map(({ done }) => done.catch(() => undefined)))
    },
  }
}

/** Waits until the pass is over, or has cost this much more. Returns what is left of it. */
async function waitFor(pass: Pass, most: number): Promise<number> {
  const begun = pass.cost
  const { promise: isSpent, resolve } = Promise.withResolvers<void>()
  const listener = () => {
    if (pass.cost - begun >= most) resolve()
  }
  pass.waiting++
  // Ends the rest that it may be in.
  for (const wake of pass.listeners) wake()
  pass.listeners.add(listener)
  try {
    await Promise.race([pass.done, isSpent])
  } finally {
    pass.waiting--
    pass.listeners.delete(listener)
  }
  return most - (pass.cost - begun)
}

/** While nobody waits, the rest is long and keeps no process alive: a job that has done its work ends. */
async function rest(pass: Pass): Promise<void> {
  if (pass.waiting > 0) {
    await setImmediate()
    return
  }
  await new Promise<void>((resolve) => {
    const wake = () => {
      clearTimeout(timer)
      pass.listeners.delete(wake)
      resolve()
    }
    const timer = setTimeout(wake, restMs)
    timer.unref()
    pass.listeners.add(wake)
  })
}

/** Brings the index up to date, in portions. False: it was stopped before the end. */
async function readUnread(
  store: Store,
  index: SearchIndex,
  ownerId: OwnerId,
  onPortion: (cost: number) => Promise<boolean>,
): Promise<boolean> {
  // Each thread once: one that is being written to is behind again before the next lookup.
  const seen = new Set<string>()
  for (;;) {
    const read = seen.size
    // From the top to the bottom of the list, and never over the same threads again for the next few.
    let before: number | undefined
    do {
      const found = await index.findUnread(ownerId, threadsAtOnce, before)
      for (const thread of found) {
        if (seen.has(thread.threadId)) continue
        seen.add(thread.threadId)
        if (!(await readThread(store, index, thread, onPortion))) return false
      }
      before = found.length < threadsAtOnce ? undefined : found.at(-1)?.activity
    } while (before !== undefined)
    // One that was not read yet may have moved to the top meanwhile.
    if (seen.size === read) return true
  }
}

/** `onPortion` is called with the cost of each portion, and decides when the next begins; false: none does. */
async function readThread(
  store: Store,
  index: SearchIndex,
  thread: UnreadThread,
  onPortion: (cost: number) => Promise<boolean>,
): Promise<boolean> {
  const { threadId, incarnation, createdAt } = thread
  let { from, title } = thread
  const pace = createPacer()
  const texts = new Map<number, IndexedText>()
  let cost = costOfRead
  const storePortion = async (to: Seq): Promise<boolean> => {
    await index.addTexts({ threadId, incarnation, from, to, texts: [...texts.values()] })
    const spent = cost
    texts.clear()
    cost = costOfRead
    from = to
    return onPortion(spent)
  }
  const add = async (message: Message): Promise<boolean> => {
    const { seq, createdAt: at } = message
    const words = await runPaced(findSearchWords(searchTextOf(message)), pace)
    texts.set(seq, { seq, at, words })
    cost += words.length + costOfText
    // Without moving the indexed seq: if the process dies now, all of these changes are read again.
    return cost < costAtOnce || storePortion(Math.max(from, 0))
  }
  for (;;) {
    const changes = await store.readChanges({
      threadId,
      after: Math.max(from, 0),
      limit: changesAtOnce,
      results: 'none',
      maxBytes: bytesAtOnce,
    })
    if (changes === null || changes.incarnation !== incarnation) return onPortion(costOfRead)
    const open = new Set<Message['id']>()
    const shown = new Set<Seq>()
    let isRenamed = false
    // Stored first, so that of a title and a message of the same time the message is found first.
    texts.set(0, { seq: 0, at: createdAt, words: toSearchWords(title) })
    for (const change of changes.changes) {
      if (change.kind === 'turn') {
        if (!(await add(change.turn))) return false
      } else if (isTurnEvent(change.event)) open.add(change.event.turnId)
      else if (change.event.type === 'message-added') {
        if (!(await add(toUserMessage(change.event)))) return false
      } else if (change.event.type === 'messages-shown') {
        for (const place of change.event.places) shown.add(place)
      } else if (change.event.type === 'thread-renamed') isRenamed = true
    }
    for (const id of open) {
      const turn = await store.readMessage(threadId, id, 'none')
      if (turn !== null && !(await add(turn))) return false
    }
    for await (const message of readShown(store, threadId, shown)) {
      if (!(await add(message))) return false
    }
    // It may have been renamed after it was looked up: with the title from then it would count as up to date.
    if (isRenamed) {
      title = (await store.readThread(threadId))?.title ?? title
      texts.set(0, { seq: 0, at: createdAt, words: toSearchWords(title) })
    }
    if (!(await storePortion(changes.reached))) return false
    if (from >= changes.seq) return true
  }
}

/**
 * The messages at these places. An event that shows messages again does not contain them, and a turn that
 * changed while it was hidden is in no change: without this read it would be visible and never found. A message that is
 * hidden again by now is read when it is shown next.
 */
async function* readShown(
  store: Store,
  threadId: ThreadId,
  places: ReadonlySet<Seq>,
): AsyncGenerator<Message> {
  const sorted = [...places].sort((left, right) => left - right)
  const [first] = sorted
  if (first === undefined) return
  for (let before = (sorted.at(-1) ?? first) + 1; before > first;) {
    const query = {
      threadId,
      limit: changesAtOnce,
      before,
      live: 'include',
      results: 'none',
    } as const
    const page = await store.readPage({ ...query, maxBytes: bytesAtOnce })
    const last = page?.messages.at(-1)
    if (page === null || last === undefined) return
    for (const message of page.messages) if (places.has(message.seq)) yield message
    before = last.seq
    await setImmediate()
  }
}
