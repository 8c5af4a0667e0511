import { existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { HoldfastError } from '../core/holdfast-error.ts'
import { memory } from '../store/memory/memory-store.ts'
import { parseFileName } from '../store/sqlite/file-name.ts'
import type { Store } from '../store/store.ts'
import { CliError } from './cli-error.ts'

export interface StoreChoice {
  /** From the command line; takes precedence over HOLDFAST_DB. */
  readonly db: string | undefined
  readonly env: NodeJS.ProcessEnv
  /** `existing`: a database that is missing, or has no tables, is an error and not a new one. */
  readonly need: 'existing' | 'any'
}

const ordinary = 'holdfast.db'

/** That of the options of `postgres`, which no command has. */
const schema = 'holdfast'

export async function openStore({ db, env, need }: StoreChoice): Promise<Store> {
  const place = parsePlace(db, env)
  if (place.kind === 'postgres') {
    const open = await loadPostgres(place.url)
    if (need === 'existing' && (await open.state()) === 'absent') {
      throw new CliError(
        `The database has no Holdfast tables in the schema "${schema}". Run \`holdfast migrate\`, or check --db.`,
      )
    }
    return open.store()
  }
  const { name } = place
  if (need === 'existing' && !existsSync(name)) {
    throw new CliError(`There is no database ${name}. Name one with --db or HOLDFAST_DB.`)
  }
  if (isFolder(name)) {
    throw new CliError(`${name} is a folder. Name a file with --db or HOLDFAST_DB.`)
  }
  if (!isFolder(dirname(name))) {
    throw new CliError(`There is no folder ${dirname(name)}. Make it, or choose another with --db.`)
  }
  const { isEmptyDatabase } = await import('../store/sqlite/open-database.ts')
  if (need === 'existing' && isEmptyDatabase(name)) {
    throw new CliError(
      `${name} is empty: it has no Holdfast tables. Run \`holdfast migrate\`, or choose another with --db.`,
    )
  }
  return openFile(name)
}

/**
 * The store for a command that writes nothing to it. A missing database is not created, and one of an older version is not
 * migrated: a copy of a file in `folder` is.
 */
export async function openUntouched(
  { db, env }: Omit<StoreChoice, 'need'>,
  folder: string,
): Promise<Store> {
  const place = parsePlace(db, env)
  if (place.kind === 'postgres') {
    const open = await loadPostgres(place.url)
    switch (await open.state()) {
      case 'absent':
        return memory()
      case 'older':
        throw new CliError(
          `The tables in the schema "${schema}" are of an older version, and a dry run changes nothing. Run \`holdfast migrate\` first.`,
        )
      case 'current':
        return open.store()
    }
  }
  const { name } = place
  if (!existsSync(name) && isFolder(dirname(name))) return memory()
  if (!existsSync(name) || isFolder(name)) return openStore({ db, env, need: 'existing' })
  const { copyDatabase, isCurrentDatabase } = await import('../store/sqlite/open-database.ts')
  if (isCurrentDatabase(name)) return openFile(name)
  const copy = join(folder, 'copy.db')
  copyDatabase(name, copy)
  return openFile(copy)
}

type Place =
  | { readonly kind: 'postgres'; readonly url: string }
  | { readonly kind: 'file'; readonly name: string }

function parsePlace(db: string | undefined, env: NodeJS.ProcessEnv): Place {
  const place = (db ?? (env['HOLDFAST_DB'] || ordinary)).trim()
  if (/^postgres(?:ql)?:/i.test(place)) return { kind: 'postgres', url: place }
  if (/^(?!file:)[a-z][a-z+]+:\/\//i.test(place)) {
    throw new CliError('--db is a file or a postgres:// URL.')
  }
  return { kind: 'file', name: parseFileName(place) }
}

const isFolder = (name: string): boolean =>
  statSync(name, { throwIfNoEntry: false })?.isDirectory() === true

async function openFile(name: string): Promise<Store> {
  const { sqlite } = await import('../store/sqlite/index.ts')
  const { isPathFault } = await import('../store/sqlite/sqlite-error.ts')
  try {
    return sqlite(name)
  } catch (error) {
    // The usual advice for a store that failed is to check it, and there is none.
    if (!(error instanceof HoldfastError && error.code === 'store-failed')) throw error
    if (!isPathFault(error.cause)) throw error
    throw new CliError(`${error.message} Choose another with --db.`, { cause: error })
  }
}

/** The driver is an optional dependency: it is installed only by users of PostgreSQL. */
async function loadPostgres(url: string) {
  try {
    await import('pg')
  } catch {
    throw new CliError('For PostgreSQL the driver is needed as well. Run `npm install pg`.')
  }
  const { postgres } = await import('../store/postgres/index.ts')
  const { readSchemaState } = await import('../store/postgres/schema-state.ts')
  return {
    state: () => withAdvice(() => readSchemaState(url, schema)),
    store: () => withAdvice(async () => postgres(url, { schema })),
  }
}

/** What is wrong with an address is told as of an option, and here it came from elsewhere. */
async function withAdvice<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof HoldfastError && error.code === 'bad-option')) throw error
    throw new CliError(`${error.message} Check --db or HOLDFAST_DB.`, { cause: error })
  }
}
