import type { Seq, ThreadId } from '../core/ids.ts'
import { isJsonObject } from '../core/json.ts'
import { mapInSteps, type PausableWork } from '../core/pausable-work.ts'
import type { IdKeeper } from '../import/import-units.ts'
import type { ReadHidden, StoredHidden } from '../import/merge-versions.ts'
import type { OldMessage, Report } from '../import/old-message.ts'
import type { ListOptions } from '../import/read-messages.ts'
import { hasTooManyParts } from '../import/message-width.ts'
import { readOldMessages } from '../import/read-legacy-messages.ts'
import { isImported, toOldMessage } from '../import/turn-events.ts'
import type { Store } from '../store/store.ts'
import { readHidden } from './export-versions.ts'
import { type Pacer, runPaced } from '../store/pacer.ts'
import type { PlacedValue } from './thread-intake.ts'

/** A message that is not shown in its source, before it has an id of its own. */
export interface UnnamedHidden extends Omit<ReadHidden, 'id'> {
  readonly message: OldMessage
}

/**
 * What an export has as `hiddenMessages`, in its order. Rows with the same version belong to one message. `first` is the
 * place of the first of them in the report.
 */
export async function readHiddenValues(
  values: readonly PlacedValue[],
  first: number,
  options: Pick<ListOptions, 'format' | 'at'>,
  report: Report,
  pace: Pacer,
): Promise<readonly UnnamedHidden[]> {
  const found: UnnamedHidden[] = []
  for (let from = 0, to = 0; from < values.length; from = to) {
    const place = placeOf(values[from]?.value)
    do to++
    while (
      place.version !== undefined &&
      to < values.length &&
      placeOf(values[to]?.value).version === place.version
    )
    const at = first + from
    const own: Report = {
      ...report,
      mend: (index, what) => report.mend(at + index, what),
      guess: (index, what) => report.guess(at + index, what),
      fail: (index, why) => report.fail(at + index, why),
    }
    const group = values.slice(from, to).map(({ value }) => value)
    const work = readOldMessages(group, { ...options, isOrdered: true }, own)
    const { messages } = await runPaced(work, pace)
    const [read, ...others] = messages
    for (const { index } of others) own.fail(index, 'A version is one message.')
    if (read === undefined || hasTooManyParts(read.message, at, report)) continue
    found.push({ ...place, hiddenSeq: place.hiddenSeq ?? from, index: at, message: read.message })
  }
  return found
}

function placeOf(value: unknown): Pick<ReadHidden, 'version' | 'follows' | 'nth'> & {
  readonly hiddenSeq: Seq | undefined
} {
  const { version, follows, nth, hiddenSeq } = isJsonObject(value) ? value : {}
  return {
    version: typeof version === 'string' ? version : undefined,
    follows: typeof follows === 'string' ? follows : null,
    nth: toCount(nth),
    hiddenSeq: toCount(hiddenSeq),
  }
}

const toCount = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value < 2 ** 40
    ? value
    : undefined

/** Turns have ids that are unique, and what a person wrote may have that of another version. */
export const nameHidden = (
  hidden: readonly UnnamedHidden[],
  ids: IdKeeper,
  report: Report,
): PausableWork<readonly ReadHidden[]> =>
  mapInSteps(hidden, (item): ReadHidden => {
    const { message, version = '', index } = item
    const key = ['version', version]
    const mend = (what: string) => report.mend(index, what)
    const id =
      message.kind === 'turn'
        ? ids.message(message.id, key, mend)
        : ids.version(message.id, key, mend)
    return { ...item, id }
  })

/** What is stored of a thread and not shown. */
export async function readStoredHidden(
  store: Store,
  threadId: ThreadId,
  pace: Pacer,
): Promise<readonly StoredHidden[]> {
  const hidden: StoredHidden[] = []
  for await (const { message, parent, hiddenSeq } of readHidden(store, threadId)) {
    await pace()
    const { id, seq } = message
    hidden.push({
      ...{ id, seq, message: toOldMessage(message), isImported: isImported(message) },
      ...{ parent, hiddenSeq },
    })
  }
  return hidden
}
