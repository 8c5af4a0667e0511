import type { FileId } from '../core/file.ts'
import type { OwnerId } from '../core/ids.ts'
import { filesInPart } from '../core/named-files.ts'
import type { PausableWork } from '../core/pausable-work.ts'
import type { OldMessage, Report } from '../import/old-message.ts'
import { type Pacer, runPaced } from '../store/pacer.ts'
import type { Store } from '../store/store.ts'

/** How many files are looked up at once. */
const mostAtOnce = 500
/** What was read is written within this time: until then its files are protected from the collector. */
const writeMs = 3_600_000

/**
 * Reports the files that messages refer to and that the thread's owner does not have. Their parts are stored as they are,
 * and are shown as those of a file that is gone: only a file of the owner is ever used (FL2), and whether another owner has
 * such a file is not to be learned (HT2).
 */
export async function reportMissingFiles(
  { files }: Store,
  ownerId: OwnerId,
  messages: readonly { readonly index: number; readonly message: OldMessage }[],
  report: Report,
  pace: Pacer,
): Promise<void> {
  if (files === undefined) return
  const named = await runPaced(findNamed(messages), pace)
  const all = [...new Set(named.flatMap(({ ids }) => [...ids]))]
  const own = new Set<FileId>()
  for (let from = 0; from < all.length; from += mostAtOnce) {
    const some = all.slice(from, from + mostAtOnce)
    const found = await files.reserve(some, ownerId, Date.now() + writeMs)
    for (const { id } of found) own.add(id)
  }
  for (const { index, ids } of named) {
    for (const id of ids) if (!own.has(id)) report.mend(index, `There is no file ${id} here.`)
  }
}

/** Those that name a file: few do. */
function* findNamed(
  messages: readonly { readonly index: number; readonly message: OldMessage }[],
): PausableWork<{ readonly index: number; readonly ids: ReadonlySet<FileId> }[]> {
  const named: { readonly index: number; readonly ids: ReadonlySet<FileId> }[] = []
  for (const { index, message } of messages) {
    yield
    const ids = filesOf(message)
    if (ids.size > 0) named.push({ index, ids })
  }
  return named
}

function filesOf(message: OldMessage): ReadonlySet<FileId> {
  const parts =
    message.kind === 'turn' ? message.steps.flatMap((step) => step.parts) : message.parts
  const ids = new Set<FileId>()
  for (const part of parts) {
    if (part.type === 'steering') for (const own of part.parts) addAll(ids, filesInPart(own))
    else if (part.type === 'file' || part.type === 'reasoning-file') addAll(ids, filesInPart(part))
  }
  return ids
}

function addAll<Value>(set: Set<Value>, values: Iterable<Value>): void {
  for (const value of values) set.add(value)
}
