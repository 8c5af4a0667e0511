import { accessSync, constants, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { HoldfastError } from '../../core/holdfast-error.ts'

/**
 * Why a database cannot be opened where it is said to be. SQLite knows only that it cannot: whoever reads
 * that has to find out by themselves which of the folder, the file and its log it is about. Null: not known either.
 */
export function findPlaceFault(file: string, cause: unknown): HoldfastError | null {
  if (file === ':memory:' || file.startsWith('file:')) return null
  const folder = dirname(file)
  const isFolder = (path: string) =>
    statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  if (!isFolder(folder)) {
    return new HoldfastError('store-failed', `There is no folder ${folder}.`, { cause })
  }
  if (isFolder(file)) return new HoldfastError('store-failed', `${file} is a folder.`, { cause })
  const blocked = [file, `${file}-wal`, `${file}-shm`].find((path) => !canWrite(path))
  if (blocked === undefined && canWrite(folder)) return null
  return new HoldfastError(
    'store-read-only',
    blocked === undefined
      ? `The folder ${folder} cannot be written to by this account, and the database needs room there for itself and its log.`
      : `The file ${blocked} cannot be written to by this account.`,
    { cause, isTemporary: true },
  )
}

/** What is not there is made by whoever may write to the folder. */
function canWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
}
