import { existsSync, readdirSync, readlinkSync, realpathSync } from 'node:fs'
import { sep } from 'node:path'

const list = '/proc/self/fd'

/** Only Linux lists the descriptors of a process. */
export const canListDescriptors: boolean = existsSync(list)

/** How many files in a folder this process has open: those of other tests in the process do not count. */
export function descriptorsIn(folder: string): number {
  const root = realpathSync(folder) + sep
  return readdirSync(list).filter((descriptor) => pathOf(descriptor).startsWith(root)).length
}

function pathOf(descriptor: string): string {
  try {
    return readlinkSync(`${list}/${descriptor}`)
  } catch {
    // Closed since it was listed, as is always the one that the list was read with.
    return ''
  }
}
