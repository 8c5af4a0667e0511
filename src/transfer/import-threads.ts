import { type OwnerId, parseMessageId, parseOwnerId } from '../core/ids.ts'
import type { ThreadFlags } from '../core/thread-flags.ts'
import { longestTitle } from '../core/thread.ts'
import { withDefined } from '../core/with-defined.ts'
import type { LegacyFormat } from '../import/detect-format.ts'
import type { Store } from '../store/store.ts'
import { createDryStore } from './dry-store.ts'
import type { ImportItem } from './import-item.ts'
import { createReportWriter, type ImportProblem, type ImportReport } from './import-report.ts'
import { appendMessages, isBusy, mergeMessages } from './import-thread.ts'
import { createImportWriter } from './import-writer.ts'
import {
  addFields,
  addMessage,
  createIntake,
  isFull,
  isInOrder,
  latestIn,
  type ThreadIntake,
} from './thread-intake.ts'
import { createPacer } from './pacer.ts'
import { openSession, type ThreadSession } from './thread-session.ts'

export interface ImportOptions {
  /** Whose the threads are. */
  readonly ownerId: OwnerId
  /**
   * Whether a thread may say whose it is, and what the host keeps with it (`metadata`). Never for a source that a stranger sends.
   * @default false
   */
  readonly trustsOwners?: boolean
  /**
   * What the messages are; `auto` looks at each by its own marks.
   * @default 'auto'
   */
  readonly format?: LegacyFormat | 'auto'
  /** The thread of messages that do not say theirs. @default a new one */
  readonly threadId?: string
  /**
   * Writes nothing, and reports what would be. The store that is given is for what is written
   * meanwhile: it is empty, and nobody else's.
   * @default everything is written
   */
  readonly dryRun?: { readonly scratch: Store }
  /** The date of what has none. @default Date.now */
  readonly now?: () => number
  /** Each problem as it is met. @default they are in the report alone */
  readonly onProblem?: (problem: ImportProblem) => void
  /** How many messages have been read so far. @default nobody is told */
  readonly onProgress?: (messages: number) => void
  /**
   * How many problems of each kind the report lists.
   * @default 1000
   */
  readonly listed?: number
}

/** Most messages that wait for the rest of their threads, where a source mixes threads. */
const mostWaiting = 20_000
/** The same where all of them are needed to find the order of a thread. */
const mostHeld = 300_000

/**
 * Stores the threads of a source as turns that have ended (LE5). Ids that are free are kept, the rest
 * are derived, and what is stored already is left alone but for what has been finished since: doing it
 * twice changes nothing.
 */
export async function importThreads(
  target: Store,
  source: AsyncIterable<ImportItem>,
  options: ImportOptions,
): Promise<ImportReport> {
  const { format = 'auto', now = Date.now, dryRun } = options
  const store = dryRun === undefined ? target : createDryStore(target, dryRun.scratch)
  const pace = createPacer()
  const report = createReportWriter(options.listed ?? 1_000, options.onProblem ?? (() => {}))
  const writer = createImportWriter(store, pace, ({ where }, { id }, why) =>
    report.fail(where === '' ? id : `${where}, ${id}`, why),
  )
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
    const session = ownerId === null ? null : await openSession(store, intake, ownerId, at)
    sessions.set(intake.key, session)
    report.count({ threads: 1 })
    // A document of one thread has no place for it but itself.
    const where = intake.where === '' ? 'thread' : intake.where
    if (ownerId === null) report.fail(where, 'Its owner is not one that a thread can have.')
    else if (session === null) report.fail(where, isBusy)
    if (session?.renamed !== undefined) report.mend(where, session.renamed)
    if ((intake.fields.title ?? '').length > longestTitle) {
      report.mend(where, `The title was cut at ${longestTitle} characters.`)
    }
    if (session !== null && intake.fields.id === undefined && intake.fields.hasMore === true) {
      report.guess(where, `${isPageAlone} It became ${session.id}.`)
    }
    return session
  }

  const write = async (intake: ThreadIntake, isFollowed: boolean): Promise<void> => {
    const at = intake.fields.createdAt ?? now()
    const session = await open(intake, at)
    // What is there already may belong before and after it: then all of it is needed at once.
    if (isFollowed && session?.isNew === false) {
      intake.isHeld = true
      return
    }
    const { messages } = intake
    const goesOn = session?.hasWritten !== true || isInOrder(intake)
    intake.messages = []
    waiting -= messages.length
    if (session === null || messages.length === 0) return
    const work = { pace, store, writer, report, session, intake, messages, format, at, isFollowed }
    if (session.isNew && goesOn) await appendMessages(work)
    else await mergeMessages(work)
    intake.lastAt = latestIn(messages) ?? intake.lastAt
  }

  const finish = async (intake: ThreadIntake): Promise<void> => {
    // An empty page is no thread.
    const isNothing = intake.messages.length === 0 && intake.fields.id === undefined
    if (!isNothing || sessions.has(intake.key)) await write(intake, false)
    const session = sessions.get(intake.key)
    const flags = flagsOf(intake.fields)
    // Behind its messages, each of which takes it out of the archive. A thread that was there is as its owner left it.
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
        if (isFull(intake, item.value)) await write(intake, true)
        addMessage(intake, item)
        waiting++
        options.onProgress?.(++read)
        const longest = waiting > mostWaiting ? findLongest(intakes, waiting > mostHeld) : undefined
        if (longest !== undefined) await write(longest, false)
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

const isPageAlone = 'There are more pages, and nothing says of which thread they are.'

function toOwnerId(owner: string): OwnerId | null {
  try {
    return parseOwnerId(owner)
  } catch {
    // The rule for ids has one home, and it says no by throwing.
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
