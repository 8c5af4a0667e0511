import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { parseOwnerId } from '../core/ids.ts'
import type { ImportProblem, ImportReport } from '../transfer/import-report.ts'
import { importThreads } from '../transfer/import-threads.ts'
import { readImport } from '../transfer/read-import.ts'
import { CliError } from './cli-error.ts'
import type { Command, CommandContext, ExitCode } from './command.ts'
import { openStore } from './open-store.ts'
import { parseArguments, parseChoice } from './parse-arguments.ts'
import { createProgress } from './progress.ts'
import type { Terminal } from './terminal.ts'
import { count, oneLine } from './words.ts'

const formats = ['auto', 'ui', 'vercel', 'tools-used', 'commentary', 'entities'] as const

export const importCommand: Command = {
  help: `holdfast import FILE [--format ${formats.join('|')}] [--db FILE|URL] [--owner ID]

Reads JSON or JSONL ("-" is the standard input): threads, or messages of one thread. What is there
already is left alone. Says line by line what it mended and what it could not read.

  --format   what the messages are; auto looks at each
  --db       the database (or HOLDFAST_DB; without either: holdfast.db)
  --owner    whose the threads are; without it what the file says, else "local"

Exit code: 0 all of it, 1 some of it could not be read, 2 nothing was done.`,
  run,
}

async function run({ args, env, terminal }: CommandContext): Promise<ExitCode> {
  const { values, positionals } = parseArguments('import', args, {
    format: { type: 'string' },
    db: { type: 'string' },
    owner: { type: 'string' },
  })
  const [file, ...more] = positionals
  if (file === undefined || more.length > 0) {
    throw new CliError('Name one file to import: `holdfast import FILE`.')
  }
  const format = parseChoice('--format', values.format, formats) ?? 'auto'
  const size = file === '-' ? undefined : (await stat(file)).size
  const progress = createProgress(terminal)
  let bytes = 0
  const source = countBytes(file === '-' ? process.stdin : createReadStream(file), (more) => {
    bytes += more
  })
  const store = await openStore({ db: values.db, env, file: 'any' })
  try {
    const report = await importThreads(store, readImport(source), {
      ownerId: parseOwnerId(values.owner ?? 'local'),
      trustsOwners: values.owner === undefined,
      format,
      listed: 0,
      onProblem: (problem) => terminal.print(describe(problem, terminal)),
      onProgress: (messages) =>
        progress.update(size === undefined ? undefined : bytes / size, () =>
          count(messages, 'message'),
        ),
    })
    progress.done()
    terminal.print(summarize(report))
    return (report.unlisted?.failed ?? 0) > 0 ? 1 : 0
  } finally {
    await store.close()
  }
}

async function* countBytes(
  source: AsyncIterable<Uint8Array>,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const piece of source) {
    onBytes(piece.length)
    yield piece
  }
}

function describe(problem: ImportProblem, { paint }: Terminal): string {
  const where = problem.where === '' ? '' : `${problem.where}: `
  return problem.kind === 'mended'
    ? `${paint('yellow', 'mended')} ${oneLine(`${where}${problem.what}`)}`
    : `${paint('red', 'failed')} ${oneLine(`${where}${problem.why}`)}`
}

function summarize({ threads, messages, calls, skipped, unlisted }: ImportReport): string {
  const read = [count(threads, 'thread'), count(messages, 'message'), count(calls, 'call')]
  return [
    `Read ${read.join(', ')}`,
    `${count(skipped, 'message')} ${skipped === 1 ? 'was' : 'were'} here already`,
    `${unlisted?.mended ?? 0} mended`,
    `${unlisted?.failed ?? 0} failed.`,
  ].join('; ')
}
