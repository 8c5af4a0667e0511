import { type OwnerId, parseMessageId, parseOwnerId } from '../core/ids.ts'
import type { ThreadFlags } from '../core/thread-flags.ts'
import { longestTitle } from '../core/thread.ts'
import { withDefined } from '../core/with-defined.ts'
import type { LegacyFormat } from '../import/old-shapes.ts'
import type { Store } from '../store/store.ts'
import { createDryStore } from './dry-store.ts'
import type { ImportItem } from './import-item.ts'
import { importQueue } from './import-queue.ts'
import { createReportWriter, type ImportProblem, type ImportReport } from './import-report.ts'
import { appendMessages, mergeMessages } from './import-thread.ts'
import { createImportWriter, isBusy } from './import-writer.ts'
import {
  addFields,
  addMessage,
  createIntake,
  isFull,
  isInOrder,
  latestIn,
  type ThreadIntake,
} from './thread-intake.ts'
import { createPacer, runPaced } from '../store/pacer.ts'
import { openSession, type ThreadSession } from './thread-session.ts'

/** Options of `importThreads`. */
export interface ImportOptions {
  /** The owner of the imported threads. */
  readonly ownerId: OwnerId
  /**
   * Whether the source may set the owner and the host's `metadata` of a thread, and contain the feedback of others than
   * that owner. Never true for a source from a user.
   * @default false
   */
  readonly trustsOwners?: boolean
  /**
   * The format of the messages; `auto` detects it for each message.
   * @default 'auto'
   */
  readonly format?: LegacyFormat | 'auto'
  /** The thread of messages that do not name theirs. @default a new one */
  readonly threadId?: string
  /**
   * Writes nothing to the store, and reports what would be written. `scratch` is an empty store of its own that takes the
   * writes meanwhile.
   * @default everything is written
   */
  readonly dryRun?: { readonly scratch: Store }
  /** The date of messages without one. @default Date.now */
  readonly now?: () => number
  /** Called with each problem as it occurs. @default they are in the report alone */
  readonly onProblem?: (problem: ImportProblem) => void
  /** Called with how many messages have been read so far. @default none */
  readonly onProgress?: (messages: number) => void
  /**
   * How many problems of each kind the report lists.
   * @default 1000
   */
  readonly listed?: number
}

/** The most messages that are held while they wait for the rest of their threads, where a source mixes threads. */
const mostWaiting = 20_000
/** The same where all messages of a thread are needed to find its order. */
const mostHeld = 300_000

/**
 * Stores the threads of a source as ended turns (LE5). Free ids are kept, the rest are derived, and stored
 * messages change only by what has ended since: importing twice changes nothing.
 */
export async function importThreads(
  target: Store,
  source: AsyncIterable<ImportItem>,
  options: ImportOptions,
): Promise<ImportReport> {
  const { format = 'auto', now = Date.now, dryRun } = options
  const store = dryRun === undefined ? target : createDryStore(target, dryRun.scratch)
  const pace = createPacer()
  const { listed = 1_000, onProblem } = options
  const report = createReportWriter(listed, onProblem ?? (() => {}))
  // Whoever is called with each problem gets all of them; nobody needs more than are listed otherwise.
  const mostProblems = onProblem === undefined ? listed : Number.POSITIVE_INFINITY
  const writer = createImportWriter(store, pace, ({ where, threadId }, unit, why) => {
    const id = unit?.id ?? threadId
    report.fail(where === '' ? id : `${where}, ${id}`, why)
  })
  const intakes = new Map<string, ThreadIntake>()
  const sessions = new Map<string, ThreadSession | null>()
  let waiting = 0
  let read = 0

  const find = (key: string, where: string): ThreadIntake => {
    const intake = intakes.get(key) ?? createIntake(key, where)
    intakes.set(key, intake)
    return intake
  }
  const ownerOf = ({ fields: { owner } }: ThreadIntake): OwnerId | null =>
    owner !== undefined && options.trustsOwners === true ? toOwnerId(owner) : options.ownerId

  const open = async (intake: ThreadIntake, at: number): Promise<ThreadSession | null> => {
    const known = sessions.get(intake.key)
    if (known !== undefined) return known
    if (intake.fields.id === undefined && options.threadId !== undefined) {
      intake.fields = { ...intake.fields, id: options.threadId }
    }
    if (options.trustsOwners !== true) {
      const { metadata: _, ...fields } = intake.fields
      intake.fields = fields
    }
    const ownerId = ownerOf(intake)
    const session =
      ownerId === null ? null : await openSession({ store, writer, pace }, intake, ownerId, at)
    sessions.set(intake.key, session)
    report.count({ threads: 1 })
    // A document of one thread has no position for it.
    const where = intake.where === '' ? 'thread' : intake.where
    if (ownerId === null) report.fail(where, 'Its owner is not one that a thread can have.')
    else if (session === null) report.fail(where, isBusy)
    if (session?.renamed !== undefined) report.mend(where, session.renamed)
    if ((intake.fields.title ?? '').length > longestTitle) {
      report.mend(where, `The title was cut at ${longestTitle} characters.`)
    }
    if (session !== null && intake.fields.id === undefined && intake.fields.hasMore === true) {
      report.guess(where, `${pageWithoutThread} It became ${session.id}.`)
    }
    return session
  }

  const write = async (
    intake: ThreadIntake,
    { isFollowed = false, isLast = false } = {},
  ): Promise<void> => {
    const at = intake.fields.createdAt ?? now()
    const session = await open(intake, at)
    // Stored messages may belong before and after the new ones: then all of them are needed at once.
    if (isFollowed && session?.isNew === false) {
      intake.isHeld = true
      return
    }
    const { messages } = intake
    const goesOn = session?.hasWritten !== true || (await runPaced(isInOrder(intake), pace))
    intake.messages = []
    const hidden = isLast ? intake.hidden.splice(0) : []
    waiting -= messages.length + hidden.length + (isLast ? intake.queued.length : 0)
    if (session === null || messages.length + hidden.length === 0) return
    const trustsAuthors = options.trustsOwners === true
    const common = {
      ...{ pace, store, writer, report, session, intake, format, at, isFollowed, trustsAuthors },
      mostProblems,
    }
    if (session.isNew && goesOn) {
      if (messages.length > 0) await appendMessages({ ...common, messages, hidden: [] })
      // What they follow is stored now.
      if (hidden.length > 0) await mergeMessages({ ...common, messages: [], hidden })
    } else await mergeMessages({ ...common, messages, hidden })
    intake.lastAt = (await runPaced(latestIn(messages), pace)) ?? intake.lastAt
  }

  const finish = async (intake: ThreadIntake): Promise<void> => {
    // An empty page is no thread.
    const isNothing =
      intake.messages.length + intake.hidden.length === 0 && intake.fields.id === undefined
    if (!isNothing || sessions.has(intake.key)) await write(intake, { isLast: true })
    const session = sessions.get(intake.key)
    if (session != null && intake.queued.length > 0) {
      // Behind its messages: an id that one of them has is not queued.
      await writer.flushThread(session.id)
      await importQueue(store, session, intake.queued, report, now)
    }
    const flags = flagsOf(intake.fields)
    // After its messages, each of which takes the thread out of the archive. The flags of an existing thread
    // stay as its owner set them.
    if (session?.isNew === true && flags !== null) {
      const { id } = session
      const flagged = { type: 'thread-flagged', ...flags, at: now() } as const
      const units = [{ id: parseMessageId(id), isTurn: false, events: [flagged], states: [] }]
      await writer.add({ threadId: id, where: intake.where, units })
    }
    intakes.delete(intake.key)
    sessions.delete(intake.key)
  }

  for await (const item of source) {
    await pace()
    switch (item.kind) {
      case 'thread':
        addFields(find(item.key, item.where), item)
        break
      case 'message': {
        const intake = find(item.key, '')
        const isBeside = item.isHidden === true || item.isQueued === true
        if (!isBeside && isFull(intake, item.value)) {
          intake.isHeld = !(await runPaced(isInOrder(intake), pace))
          if (!intake.isHeld) await write(intake, { isFollowed: true })
        }
        addMessage(intake, item)
        waiting++
        options.onProgress?.(++read)
        const longest = waiting > mostWaiting ? findLongest(intakes, waiting > mostHeld) : undefined
        if (longest !== undefined) await write(longest)
        break
      }
      case 'thread-ended':
        await finish(find(item.key, ''))
        break
      case 'unreadable':
        report.fail(item.where, item.why)
        break
    }
  }
  for (const intake of [...intakes.values()]) {
    await finish(intake)
    await pace()
  }
  await writer.flush()
  return dryRun === undefined ? report.finish() : { dryRun: true, ...report.finish() }
}

const flagsOf = ({ pinned, archived }: ThreadIntake['fields']): ThreadFlags | null =>
  pinned === undefined && archived === undefined ? null : withDefined({}, { pinned, archived })

const pageWithoutThread = 'There are more pages, but their thread is not named.'

function toOwnerId(owner: string): OwnerId | null {
  try {
    return parseOwnerId(owner)
  } catch {
    // The one rule for ids throws on an invalid one.
    return null
  }
}

function findLongest(
  intakes: ReadonlyMap<string, ThreadIntake>,
  alsoHeld: boolean,
): ThreadIntake | undefined {
  let longest: ThreadIntake | undefined
  for (const intake of intakes.values()) {
    if (intake.isHeld && !alsoHeld) continue
    if (intake.messages.length > (longest?.messages.length ?? 0)) longest = intake
  }
  return longest
}
