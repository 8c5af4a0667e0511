import { closeWay } from './close-way.ts'
import { commitAppends } from './commit-appends.ts'
import { sealAndDelete } from './seal-and-delete.ts'
import { wideAppends } from './wide-appends.ts'

/**
 * Written anew whenever the schema comes to another version, so a change of one needs a new version.
 * `schema` is quoted.
 */
export const allFunctions: readonly ((schema: string) => string)[] = [
  wideAppends,
  commitAppends,
  closeWay,
  sealAndDelete,
]
