import { existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { memory } from '../store/memory/memory-store.ts'
import type { Store } from '../store/store.ts'
import { CliError } from './cli-error.ts'

export interface StoreChoice {
  /** From the command line; takes precedence over HOLDFAST_DB. */
  readonly db: string | undefined
  readonly env: NodeJS.ProcessEnv
  /** `existing`: a missing file is an error, not a new database. */
  readonly file: 'existing' | 'any'
}

const ordinary = 'holdfast.db'

export async function openStore({ db, env, file }: StoreChoice): Promise<Store> {
  const place = (db ?? (env['HOLDFAST_DB'] || ordinary)).trim()
  if (/^postgres(?:ql)?:/i.test(place)) {
    return openPostgres(place.replace(/^\w+/, (scheme) => scheme.toLowerCase()))
  }
  if (/^[a-z][a-z+]+:\/\//i.test(place)) {
    throw new CliError('--db is a file or a postgres:// URL.')
  }
  const name = place.replace(/^file:/, '')
  if (file === 'existing' && !existsSync(name)) {
    throw new CliError(`There is no database ${name}. Name one with --db or HOLDFAST_DB.`)
  }
  if (existsSync(name) && statSync(name).isDirectory()) {
    throw new CliError(`${name} is a folder. Name a file with --db or HOLDFAST_DB.`)
  }
  if (statSync(dirname(name), { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new CliError(`There is no folder ${dirname(name)}. Make it, or choose another with --db.`)
  }
  const { sqlite } = await import('../store/sqlite/index.ts')
  return sqlite(name)
}

/**
 * The store for a command that writes nothing to it. A missing file is not created, and one of an older version is not
 * migrated: a copy in `folder` is.
 */
export async function openUntouched(
  { db, env }: Omit<StoreChoice, 'file'>,
  folder: string,
): Promise<Store> {
  const place = (db ?? (env['HOLDFAST_DB'] || ordinary)).replace(/^file:/, '')
  const isFile = !/^[a-z][a-z+]+:/.test(place)
  if (isFile && !existsSync(place) && existsSync(dirname(place))) return memory()
  if (!isFile || !existsSync(place) || statSync(place).isDirectory()) {
    return openStore({ db, env, file: 'existing' })
  }
  const { copyDatabase, isCurrentDatabase } = await import('../store/sqlite/open-database.ts')
  if (isCurrentDatabase(place)) return openStore({ db, env, file: 'existing' })
  const copy = join(folder, 'copy.db')
  copyDatabase(place, copy)
  return openStore({ db: copy, env, file: 'existing' })
}

/** The driver is an optional dependency: it is installed only by users of PostgreSQL. */
async function openPostgres(url: string): Promise<Store> {
  try {
    await import('pg')
  } catch {
    throw new CliError('For PostgreSQL the driver is needed as well. Run `npm install pg`.')
  }
  const { postgres } = await import('../store/postgres/index.ts')
  return postgres(url)
}
