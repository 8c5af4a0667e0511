import { CliError } from './cli-error.ts'
import type { Command, CommandContext, ExitCode } from './command.ts'
import { openStore } from './open-store.ts'
import { parseArguments, parseNumber, refusePositionals } from './parse-arguments.ts'

export const migrateCommand: Command = {
  help: `holdfast migrate [--db FILE|URL] [--partitions N]

Creates or updates the tables before a deploy, with an account that has the right to. Servers of the previous version
keep working meanwhile, and concurrent migrations wait for each other. Without this command, the first server that
starts does the same.

  --db           the database (or HOLDFAST_DB; without either: holdfast.db)
  --partitions   PostgreSQL: splits the tables into this many partitions by thread; existing rows are copied, and
                 other readers and writers wait meanwhile

Exit code: 0 up to date; 2 failed, and nothing was changed.`,
  run,
}

async function run({ args, env, terminal }: CommandContext): Promise<ExitCode> {
  const { values, positionals } = parseArguments('migrate', args, {
    db: { type: 'string' },
    partitions: { type: 'string' },
  })
  refusePositionals('migrate', positionals, 'Pass the database with --db.')
  const partitions = parseNumber('--partitions', values.partitions, 1, 1_024)
  const store = await openStore({ db: values.db, env, need: 'any' })
  try {
    if (store.migrate === undefined) {
      if (partitions !== undefined) throw new CliError('--partitions is for PostgreSQL.')
      // A file is migrated when it is opened, which a read ensures.
      await store.findAbandonedRuns(1)
      terminal.print('Up to date.')
      return 0
    }
    const { from, to } = await store.migrate(partitions === undefined ? {} : { partitions })
    terminal.print(
      from === to ? `Up to date: version ${to}.` : `From version ${from} to version ${to}.`,
    )
    return 0
  } finally {
    await store.close()
  }
}
