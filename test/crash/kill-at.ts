import type { FileStore, Store } from 'holdfast'
import type { FileRecords } from 'holdfast/store'

/** At which write the process is killed, and whether before the database has it or after, when nobody has learned of it. */
export interface Death {
  readonly when: string
  readonly place: number
}

/** A store that kills this process, really kills it, at one of its writes. `writes`: how many there were. */
export function killAt(
  store: Store,
  { when, place }: Death,
): {
  readonly store: Store
  readonly fileStore: FileStore | undefined
  readonly writes: () => number
} {
  let count = 0
  const around = async <Result>(write: () => Promise<Result>): Promise<Result> => {
    count++
    const isLast = count === place
    if (isLast && when === 'before') process.kill(process.pid, 'SIGKILL')
    const result = await write()
    if (isLast && when === 'after') process.kill(process.pid, 'SIGKILL')
    return result
  }
  const { files } = store
  const fileStore = store.defaultFileStore?.()
  return {
    writes: () => count,
    store: {
      ...store,
      // A heartbeat is a commit like any other, but when it comes is not part of what is played.
      commit: (planned) =>
        planned.every(({ size }) => size === 0)
          ? store.commit(planned)
          : around(() => store.commit(planned)),
      ...(files === undefined ? {} : { files: killAtRecords(files, around) }),
    },
    fileStore: fileStore && {
      ...fileStore,
      write: (id, content, about) =>
        around(() => fileStore.write(id, killInside(content, around), about)),
      remove: (id) => around(() => fileStore.remove(id)),
    },
  }
}

type Around = <Result>(write: () => Promise<Result>) => Promise<Result>

const killAtRecords = (files: FileRecords, around: Around): FileRecords => ({
  ...files,
  begin: (file) => around(() => files.begin(file)),
  finish: (file, most) => around(() => files.finish(file, most)),
  reserve: (ids, ownerId, at) => around(() => files.reserve(ids, ownerId, at)),
  claimUnused: (query) => around(() => files.claimUnused(query)),
  forget: (ids) => around(() => files.forget(ids)),
})

/** A file is written piece by piece: the process can die between two. */
async function* killInside(content: AsyncIterable<Uint8Array>, around: Around) {
  for await (const piece of content) yield await around(async () => piece)
}
