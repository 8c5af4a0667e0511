import { createReadStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseOwnerId, parseThreadId } from '../core/ids.ts'
import type { Store } from '../store/store.ts'
import type { ImportProblem, ImportReport } from '../transfer/import-report.ts'
import { importThreads } from '../transfer/import-threads.ts'
import { openScratch } from '../transfer/open-scratch.ts'
import { readImport } from '../transfer/read-import.ts'
import { CliError } from './cli-error.ts'
import type { Command, CommandContext, ExitCode } from './command.ts'
import { openStore, openUntouched } from './open-store.ts'
import { parseArguments, parseChoice } from './parse-arguments.ts'
import { createProgress } from './progress.ts'
import type { Terminal } from './terminal.ts'
import { count, oneLine } from './format-text.ts'
import { importFormats } from '../import/old-shapes.ts'

export const importCommand: Command = {
  help: `holdfast import FILE [--format ${importFormats.join('|')}] [--db FILE|URL] [--owner ID]
                [--thread ID] [--dry-run]

Reads JSON or JSONL ("-" is the standard input): threads, messages of one thread, or pages of a list
route. Existing messages stay unchanged, except answers and calls that have been finished since. Prints one
line for each thing that it guessed, mended or could not read, and a summary of the calls.

  --dry-run  writes nothing, and prints what would be written
  --format   the format of the messages; auto detects it for each
  --thread   the thread of messages that do not name one
  --db       the database (or HOLDFAST_DB; without either: holdfast.db)
  --owner    the owner of the threads; without it the owner in the file, else "local"

Exit code: 0 everything was imported, 1 some of it could not be read, 2 nothing was done.`,
  run,
}

async function run({ args, env, terminal, streams }: CommandContext): Promise<ExitCode> {
  const { values, positionals } = parseArguments('import', args, {
    format: { type: 'string' },
    db: { type: 'string' },
    owner: { type: 'string' },
    thread: { type: 'string' },
    'dry-run': { type: 'boolean' },
  })
  const [file, ...more] = positionals
  if (file === undefined || more.length > 0) {
    throw new CliError('Name one file to import: `holdfast import FILE`.')
  }
  const format = parseChoice('--format', values.format, importFormats) ?? 'auto'
  const threadId = values.thread === undefined ? undefined : parseThreadId(values.thread)
  const size = file === '-' ? undefined : (await stat(file)).size
  const progress = createProgress(terminal)
  let bytes = 0
  const source = countBytes(file === '-' ? streams.stdin : createReadStream(file), (more) => {
    bytes += more
  })
  const importInto = (store: Store, scratch?: Store) =>
    importThreads(store, readImport(source), {
      ownerId: parseOwnerId(values.owner ?? 'local'),
      trustsOwners: values.owner === undefined,
      format,
      ...(threadId === undefined ? {} : { threadId }),
      ...(scratch === undefined ? {} : { dryRun: { scratch } }),
      listed: 0,
      onProblem: (problem) => terminal.print(describe(problem, terminal)),
      onProgress: (messages) =>
        progress.update(size === undefined ? undefined : bytes / size, () =>
          count(messages, 'message'),
        ),
    })
  const report =
    values['dry-run'] === true
      ? await tryImport({ db: values.db, env }, importInto)
      : await using(await openStore({ db: values.db, env, need: 'any' }), importInto)
  progress.done()
  for (const line of summarize(report)) terminal.print(line)
  return (report.unlisted?.failed ?? 0) > 0 ? 1 : 0
}

/** Imports into a store of its own, in a temporary folder. */
async function tryImport(
  choice: Parameters<typeof openUntouched>[0],
  importInto: (store: Store, scratch: Store) => Promise<ImportReport>,
): Promise<ImportReport> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-dry-run-'))
  try {
    return await using(await openUntouched(choice, folder), async (store) =>
      using(await openScratch(join(folder, 'scratch.db')), (scratch) => importInto(store, scratch)),
    )
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function using<Result>(
  store: Store,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  try {
    return await work(store)
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

const colours = { guessed: 'yellow', mended: 'yellow', failed: 'red' } as const

function describe(problem: ImportProblem, { paint }: Terminal): string {
  const where = problem.where === '' ? '' : `${problem.where}: `
  const what = problem.kind === 'failed' ? problem.why : problem.what
  return `${paint(colours[problem.kind], problem.kind)} ${oneLine(`${where}${what}`)}`
}

function summarize(report: ImportReport): readonly string[] {
  const { threads, messages, calls, skipped, updated, unlisted } = report
  const read = [count(threads, 'thread'), count(messages, 'message'), count(calls, 'call')]
  const summary = [
    `Read ${read.join(', ')}`,
    `${count(skipped, 'message')} ${skipped === 1 ? 'was' : 'were'} here already`,
    ...(updated === 0 ? [] : [`${updated} of them updated`]),
    ...((unlisted?.guessed ?? 0) === 0 ? [] : [`${unlisted?.guessed} guessed`]),
    `${unlisted?.mended ?? 0} mended`,
    `${unlisted?.failed ?? 0} failed.`,
  ].join('; ')
  return [
    summary,
    ...(calls === 0 ? [] : [`Calls: ${describeCalls(report)}.`]),
    ...(report.dryRun === true ? ['This was a dry run: nothing was written.'] : []),
  ]
}

/** In the order of interest to a person, each with its label. */
const stateLabels = [
  ['succeeded', 'succeeded'],
  ['failed', 'failed'],
  ['denied', 'denied (refused)'],
  ['stopped', 'stopped'],
  ['interrupted', 'interrupted (never finished)'],
  ['unknown', 'with an unknown outcome'],
] as const

const describeCalls = ({ callsByState }: ImportReport): string =>
  stateLabels
    .filter(([state]) => (callsByState[state] ?? 0) > 0)
    .map(([state, words]) => `${(callsByState[state] ?? 0).toLocaleString('en-US')} ${words}`)
    .join(', ')
