import { toFileUrl } from '../../core/file.ts'
import { HoldfastError } from '../../core/holdfast-error.ts'
import type { Json } from '../../core/json.ts'
import type { TurnPlace } from '../call-scope.ts'
import { type Clock, elapsedMs, within } from '../clock.ts'
import type { HostPatience } from '../run/host-patience.ts'
import type { EngineFiles } from './files.ts'

/**
 * A `data:` address with at least this many characters becomes a file: a smaller one is not worth a request of its own.
 */
const leastChars = 16_384

const isLargeData = (value: Json): value is string =>
  typeof value === 'string' && value.length >= leastChars && value.startsWith('data:')

/** Where the files of a turn are stored, and who learns of failures. */
export interface OffloadTarget {
  readonly files: EngineFiles
  readonly place: TurnPlace
  readonly clock: Clock
  readonly failureTexts: { readonly ofFiles: (error: unknown) => void }
  /** Aborts when the run is interrupted: a file store is then not waited for any longer than a function of the host. */
  readonly signal: AbortSignal
  readonly patience: HostPatience
}

/**
 * Replaces large `data:` addresses in a value by files: an image that a tool generated is stored once, is not in every
 * page and prompt, and is shown by its address (FL1). What is refused stays inline, and so does what the file store fails at
 * or takes too long for, which is reported: the tool has run, and the turn must not lose its result to a bucket that is away.
 */
export type OffloadFiles = <Value extends Json>(value: Value) => Promise<Value>

/**
 * How long the file store may fail to take files, in all of a run: after that the files of its turn stay inline. A bucket
 * that never answers would hold up the turn, and whoever stops it, once for each file (OP7).
 */
const longestFailingMs = 30_000

/** For one run. */
export function createOffload(target: OffloadTarget): OffloadFiles {
  const { clock, failureTexts, signal, patience } = target
  let failingMs = 0
  return async (value) => {
    const holders = holdersOfFiles(value)
    const leftMs = longestFailingMs - failingMs
    if ((holders.size === 0 && !isLargeData(value)) || leftMs <= 0) return value
    const endsAt = elapsedMs(clock) + leftMs
    const store = async (url: string): Promise<string> => {
      if (failingMs >= longestFailingMs) return url
      const began = elapsedMs(clock)
      let isGivenUp = false
      const work = async (): Promise<string> => {
        try {
          return await toStoredUrl(target, url)
        } catch (error) {
          if (isGivenUp || isRefusal(error)) return url
          failingMs += elapsedMs(clock) - began
          failureTexts.ofFiles(error)
          return url
        }
      }
      try {
        return await patience(within(clock, Math.ceil(endsAt - began), work))
      } catch (error) {
        // It goes on in the background, and no further file of the run begins.
        isGivenUp = true
        failingMs = longestFailingMs
        if (error !== signal.reason) failureTexts.ofFiles(error)
        return url
      }
    }
    // An object keeps its fields, and a text becomes a text: the type stays.
    return (await replaceFiles(value, holders, store)) as typeof value
  }
}

/** The objects and lists of a value that have a large file inside, at any depth: nothing else has to be looked at again. */
function holdersOfFiles(value: Json): ReadonlySet<object> {
  const holders = new Set<object>()
  const holdsFile = (item: Json): boolean => {
    if (typeof item !== 'object' || item === null) return isLargeData(item)
    let holds = false
    for (const inner of Object.values(item)) if (holdsFile(inner)) holds = true
    if (holds) holders.add(item)
    return holds
  }
  holdsFile(value)
  return holders
}

async function replaceFiles(
  value: Json,
  holders: ReadonlySet<object>,
  store: (url: string) => Promise<string>,
): Promise<Json> {
  if (isLargeData(value)) return store(value)
  if (typeof value !== 'object' || value === null) return value
  const replace = (item: Json) => replaceFiles(item, holders, store)
  const isKept = (item: Json) =>
    typeof item === 'object' && item !== null ? !holders.has(item) : !isLargeData(item)
  if (Array.isArray(value)) {
    const items: Json[] = []
    for (const item of value as readonly Json[])
      items.push(isKept(item) ? item : await replace(item))
    return items
  }
  const entries: [string, Json][] = []
  for (const [name, item] of Object.entries(value)) {
    entries.push([name, isKept(item) ? item : await replace(item)])
  }
  // `__proto__` as a key is data here.
  return Object.fromEntries(entries)
}

/** The address of the file that a large `data:` address is stored as. */
async function toStoredUrl({ files, place }: OffloadTarget, url: string): Promise<string> {
  const [, mediaType = '', base64] = /^data:([^;,]*)(?:;[^;,]*)*;base64,(.*)$/s.exec(url) ?? []
  if (base64 === undefined) return url
  const file = await files.keep(place.ownerId, Buffer.from(base64, 'base64'), mediaType)
  return file === null ? url : toFileUrl(file.id)
}

/** The file is not one that is stored, by its type, size or owner. Files in the database fail with errors of ours, too. */
const isRefusal = (error: unknown): boolean =>
  error instanceof HoldfastError && !error.code.startsWith('store-')
