/** The most files of one prompt: as many as the largest `maxPerMessage`, so that those of one message always fit. */
export const mostPromptFiles = 1_000

/** One place of a prompt at which a file is sent. */
export interface FileUse {
  /** The same for every use of one file. */
  readonly key: string
  readonly bytes: number
}

/**
 * How many uses of each file a prompt has room for, given newest first: the others are words for the model. Every use
 * counts, because a request to a provider contains the bytes at each of them: a file of 25 MB that one answer names a hundred
 * times would be more than a process has memory for (OP7). Each file is sent once before any is sent twice, so that the files of
 * the newest message are not displaced by repetitions.
 */
export function planFileUses(
  uses: readonly FileUse[],
  mostBytes: number,
): ReadonlyMap<string, number> {
  const fitting = new Map<string, number>()
  let bytesLeft = mostBytes
  let usesLeft = mostPromptFiles
  const add = ({ key, bytes }: FileUse) => {
    if (bytes > bytesLeft || usesLeft === 0) return
    bytesLeft -= bytes
    usesLeft--
    fitting.set(key, (fitting.get(key) ?? 0) + 1)
  }
  const known = new Set<string>()
  const repeated = uses.filter((use) => {
    const isRepeated = known.has(use.key)
    if (!isRepeated) add(use)
    known.add(use.key)
    return isRepeated
  })
  for (const use of repeated) add(use)
  return fitting
}
