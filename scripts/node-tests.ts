import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/** What depends on Node itself: the tests beside the sources, the rules of stores and of HTTP, and the packed package. */
export const nodeTests: readonly string[] = [
  'src/',
  'test/conformance/store-rules.test.ts',
  'test/conformance/store-rules-postgres.test.ts',
  'test/server/http-rules',
  'test/packed/',
]

/** They use nothing but the language, and of that what the compiler knows as ES2024, which each promised Node has. */
const pureFolders: readonly string[] = ['core', 'views', 'import', 'protocol']

/**
 * What `npm test` runs of it on the older Nodes. The packed package brings the rules of stores in memory and on SQLite,
 * and those of HTTP on SQLite; what is left of the sources is PostgreSQL, whose driver the rules of HTTP use in every way
 * that depends on Node.
 */
export const olderNodeTests: readonly string[] = [
  ...readdirSync(join(import.meta.dirname, '../src'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !pureFolders.includes(entry.name))
    .map(({ name }) => `src/${name}/`),
  'test/server/http-rules-postgres.test.ts',
  'test/packed/',
]
