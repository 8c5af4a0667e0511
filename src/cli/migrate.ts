import { CliError } from './cli-error.ts'
import type { Command, CommandContext, ExitCode } from './command.ts'
import { openStore } from './open-store.ts'
import { parseArguments, parseNumber, refusePositionals } from './parse-arguments.ts'

export const migrateCommand: Command = {
  help: `holdfast migrate [--db FILE|URL] [--partitions N]

Makes the tables, or brings them up to date, ahead of a deploy and with an account that may. Servers of the version
before go on meanwhile, and several of these commands at once wait for each other. Without it, the first server that
is started does the same.

  --db           the database (or HOLDFAST_DB; without either: holdfast.db)
  --partitions   PostgreSQL: spreads the tables over so many parts by thread; rows that are there are copied, and
                 whoever wants to use them waits

Exit code: 0 up to date; 2 it could not be done, and nothing was changed.`,
  run,
}

async function run({ args, env, terminal }: CommandContext): Promise<ExitCode> {
  const { values, positionals } = parseArguments('migrate', args, {
    db: { type: 'string' },
    partitions: { type: 'string' },
  })
  refusePositionals('migrate', positionals, 'The database is named with --db.')
  const partitions = parseNumber('--partitions', values.partitions, 1, 1_024)
  const store = await openStore({ db: values.db, env, file: 'any' })
  try {
    if (store.migrate === undefined) {
      if (partitions !== undefined) throw new CliError('--partitions is for PostgreSQL.')
      // A file is brought up to date when it is opened, which a read makes sure of.
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
