import { pipeline } from 'node:stream/promises'
import { HoldfastError } from '../core/holdfast-error.ts'
import { withDefined } from '../core/with-defined.ts'
import { exportFormats, exportQuery } from '../transfer/export-threads.ts'
import { CliError } from './cli-error.ts'
import type { Command, CommandContext, ExitCode } from './command.ts'
import { openStore } from './open-store.ts'
import { parseArguments, parseChoice } from './parse-arguments.ts'

export const exportCommand: Command = {
  help: `holdfast export THREAD|--all [--format ${exportFormats.join('|')}] [--db FILE|URL] [--owner ID]

Writes JSON to the standard output: holdfast export --all > threads.json

  --all      every thread; with --owner, every thread of that owner
  --format   the format of messages; default ui
  --db       the database (or HOLDFAST_DB; without either: holdfast.db)

Exit code: 0 done, 2 nothing was written.`,
  run,
}

async function run({ args, env, streams }: CommandContext): Promise<ExitCode> {
  const { values, positionals } = parseArguments('export', args, {
    all: { type: 'boolean' },
    format: { type: 'string' },
    db: { type: 'string' },
    owner: { type: 'string' },
  })
  const [thread, ...more] = positionals
  if ((thread === undefined) !== (values.all === true) || more.length > 0) {
    throw new CliError('Name one thread, or pass --all: `holdfast export THREAD`.')
  }
  const format = parseChoice('--format', values.format, exportFormats) ?? 'ui'
  const store = await openStore({ db: values.db, env, need: 'existing' })
  try {
    const query = withDefined({ format }, { threadId: thread, ownerId: values.owner })
    await pipeline(exportQuery(store, query), streams.stdout, { end: false })
    return 0
  } catch (error) {
    // The reader has closed the pipe, as in `holdfast export --all | head`.
    if ((error as NodeJS.ErrnoException).code === 'EPIPE') return 0
    if (error instanceof HoldfastError && error.code === 'thread-not-found') {
      const all = '`holdfast export --all` writes all threads.'
      throw new CliError(`There is no thread ${thread}. ${all}`)
    }
    throw error
  } finally {
    await store.close()
  }
}
