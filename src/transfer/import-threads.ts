import { type OwnerId, parseOwnerId } from '../core/ids.ts'
import type { Store } from '../store/store.ts'
import type { LegacyFormat } from '../import/detect-format.ts'
import type { ImportItem } from './import-item.ts'
import { createReportWriter, type ImportProblem, type ImportReport } from './import-report.ts'
import { createImportWriter } from './import-writer.ts'
import { openSession, readNewUnits, type ThreadSession } from './thread-session.ts'
import { addFields, createIntake, isFull, type ThreadIntake } from './thread-intake.ts'

export interface ImportOptions {
  readonly ownerId: OwnerId
  /** Whether a thread may say whose it is. Never for a source that a stranger sends. */
  readonly trustsOwners?: boolean
  /** Default: `auto`, each message by its own marks. */
  readonly format?: LegacyFormat | 'auto'
  /** The date of what has none. */
  readonly now?: () => number
  /** Each problem as it is met. */
  readonly onProblem?: (problem: ImportProblem) => void
  /** How many messages have been read so far. */
  readonly onProgress?: (messages: number) => void
  /** How many problems of each kind the report lists. */
  readonly listed?: number
}

/** Most messages that wait for the rest of their threads, where a source mixes threads. */
const mostWaiting = 20_000

/**
 * Stores the threads of a source as turns that have ended (LE5). Ids that are free are kept, the rest
 * are derived from the place, and what is stored already is left alone: doing it twice changes nothing.
 */
export async function importThreads(
  store: Store,
  source: AsyncIterable<ImportItem>,
  options: ImportOptions,
): Promise<ImportReport> {
  const { format = 'auto', now = Date.now } = options
  const report = createReportWriter(options.listed ?? 1_000, options.onProblem ?? (() => {}))
  const writer = createImportWriter(store, ({ where }, { id }, why) =>
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
    const ownerId = ownerOf(intake)
    const session = ownerId === null ? null : await openSession(store, intake, ownerId, at)
    // It may be here from earlier in the same source: then what waits belongs to what is stored.
    if (session?.isNew === false) await writer.flush()
    sessions.set(intake.key, session)
    report.count({ threads: 1 })
    // A document of one thread has no place for it but itself.
    const where = intake.where === '' ? 'thread' : intake.where
    if (ownerId === null) report.fail(where, 'Its owner is not one that a thread can have.')
    else if (session === null) report.fail(where, isBusy)
    if (session?.renamed !== undefined) report.mend(where, session.renamed)
    return session
  }

  const write = async (intake: ThreadIntake, isFollowed: boolean): Promise<void> => {
    const { messages } = intake
    const at = intake.fields.createdAt ?? now()
    const session = await open(intake, at)
    intake.messages = []
    waiting -= messages.length
    if (session === null || messages.length === 0) return
    const { units, known, calls, mended, failed } = await readNewUnits(store, writer, session, {
      format,
      at,
      messages,
      isFollowed,
    })
    report.count({ messages: units.length + known, calls, skipped: known })
    for (const { where, what } of mended) report.mend(where, what)
    for (const { where, why } of failed) report.fail(where, why)
    await writer.add({ threadId: session.id, where: intake.where, units })
  }

  const finish = async (intake: ThreadIntake): Promise<void> => {
    await write(intake, false)
    intakes.delete(intake.key)
    sessions.delete(intake.key)
  }

  for await (const item of source) {
    switch (item.kind) {
      case 'thread':
        addFields(find(item.key, item.where), item)
        break
      case 'message': {
        const intake = find(item.key, '')
        if (isFull(intake, item.value)) await write(intake, true)
        intake.messages.push(item)
        waiting++
        options.onProgress?.(++read)
        if (waiting > mostWaiting) await write(longest(intakes), false)
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
  for (const intake of intakes.values()) await finish(intake)
  await writer.flush()
  return report.finish()
}

const isBusy = 'A turn of this thread is being produced. Import it when it is over.'

function toOwnerId(owner: string): OwnerId | null {
  try {
    return parseOwnerId(owner)
  } catch {
    // The rule for ids has one home, and it says no by throwing.
    return null
  }
}

function longest(intakes: ReadonlyMap<string, ThreadIntake>): ThreadIntake {
  return [...intakes.values()].reduce((most, intake) =>
    intake.messages.length > most.messages.length ? intake : most,
  )
}
