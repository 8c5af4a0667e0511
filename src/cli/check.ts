import { HoldfastError } from '../core/holdfast-error.ts'
import { type CheckReport, checkStore } from '../audit/check-store.ts'
import type { Problem } from '../audit/problem.ts'
import { CliError } from './cli-error.ts'
import type { Command, CommandContext, ExitCode } from './command.ts'
import { openStore } from './open-store.ts'
import { parseArguments, refusePositionals } from './parse-arguments.ts'
import { createProgress } from './progress.ts'
import type { Terminal } from './terminal.ts'
import { count, oneLine } from './format-text.ts'

export const checkCommand: Command = {
  help: `holdfast check [--repair] [--db FILE|URL]

Reads every row once and reports each inconsistency, while servers keep using the database.

  --repair   mends what can be mended; each repair is kept in the table "repairs"
  --db       the database (or HOLDFAST_DB; without either: holdfast.db)

Exit code: 0 healthy, or all mended; 1 problems remain; 2 it could not be checked.`,
  run,
}

async function run({ args, env, terminal }: CommandContext): Promise<ExitCode> {
  const { values, positionals } = parseArguments('check', args, {
    repair: { type: 'boolean' },
    db: { type: 'string' },
  })
  refusePositionals('check', positionals, 'Pass the database with --db.')
  const store = await openStore({ db: values.db, env, need: 'existing' })
  const progress = createProgress(terminal)
  let canMend = false
  try {
    const report = await checkStore(store, {
      repair: values.repair === true,
      onProblem(problem, isMended) {
        canMend ||= problem.mend.kind !== 'none'
        terminal.print(describe(problem, isMended, terminal))
      },
      onProgress: ({ threads, rows }) =>
        progress.update(undefined, () => `${count(threads, 'thread')}, ${count(rows, 'row')}`),
    })
    progress.done()
    terminal.print(summarize(report, values.repair !== true && canMend))
    return report.found === report.mended ? 0 : 1
  } catch (error) {
    progress.done()
    if (!(error instanceof HoldfastError && error.code === 'store-failed')) throw error
    throw new CliError(
      `${error.message} The check could not finish: restore a backup, or try what \`holdfast export\` can still read.`,
      { cause: error },
    )
  } finally {
    await store.close()
  }
}

function describe(problem: Problem, isMended: boolean, { paint }: Terminal): string {
  const { kind, threadId, messageId, callId, seq, fileId, what } = problem
  const place = [
    threadId === null ? undefined : `thread ${threadId}`,
    messageId === undefined ? undefined : `message ${messageId}`,
    callId === undefined ? undefined : `call ${callId}`,
    seq === undefined ? undefined : `seq ${seq}`,
    fileId === undefined ? undefined : `file ${fileId}`,
  ].filter((part) => part !== undefined)
  const state = isMended ? paint('green', 'mended ') : paint('red', 'damaged')
  return `${state} ${kind}: ${[...place, oneLine(what)].join(', ')}`
}

function summarize({ threads, rows, found, mended }: CheckReport, canMend: boolean): string {
  const read = `${count(threads, 'thread')}, ${count(rows, 'row')}`
  if (found === 0) return `Healthy: ${read}.`
  const left = found - mended
  if (left === 0) return `Mended: ${count(found, 'problem')} in ${read}.`
  const next = canMend
    ? 'Run `holdfast check --repair` to mend what can be mended.'
    : 'The rest cannot be mended automatically; keep a backup of the database.'
  return `${count(left, 'problem')} in ${read}; ${mended} mended. ${next}`
}
