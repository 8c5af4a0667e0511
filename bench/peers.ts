// npm run bench:peers: what becomes of a turn whose process is killed, and what a turn takes, here and elsewhere.

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { runCommand } from '../scripts/run-command.ts'
import { parseScriptArguments, refuseArguments } from '../scripts/script-arguments.ts'
import { createDatabase } from '../test/support/create-database.ts'
import { startPostgres } from '../test/support/postgres-server.ts'
import { createBroker } from './peers-broker.ts'

const systems = [
  { name: 'Holdfast, SQLite', file: 'holdfast', database: 'file' },
  { name: 'Holdfast, PostgreSQL', file: 'holdfast', database: 'postgres' },
  { name: 'AI SDK, saved at the end', file: 'ai-sdk', database: 'file' },
  { name: 'the same with resumable-stream', file: 'resumable-stream', database: 'file' },
  { name: 'Mastra memory, LibSQL', file: 'mastra', database: 'file' },
  { name: 'LangGraph, PostgreSQL', file: 'langgraph', database: 'postgres' },
] as const
type System = (typeof systems)[number]

const usage = `npm run bench:peers -- [NAME] [--only crash|time]

Kills a turn at five places and says what a reload shows afterwards; then the time of a turn without pauses. The systems are installed
into bench/peers the first time, in the versions of its package.json. With NAME only those whose file has it:
${[...new Set(systems.map(({ file }) => file))].join(', ')}`
const { positionals, values } = parseScriptArguments({
  usage,
  words: 1,
  options: { only: { type: 'string' } },
})
const { only } = values
if (only !== undefined && only !== 'crash' && only !== 'time') {
  refuseArguments(`--only takes crash or time, and not "${only}".`, usage)
}
const chosen = systems.filter(({ file }) => file.includes(positionals[0] ?? ''))
if (chosen.length === 0) refuseArguments(`No system has "${positionals[0]}" in its name.`, usage)

const folder = join(import.meta.dirname, 'peers')
const scratch = mkdtempSync(join(tmpdir(), 'holdfast-peers-'))

/** Where a process is killed: when a client has been shown this, or, in the tool, when it has begun. */
const killPoints = [
  { name: 'after the first text', isAt: (shown) => shown.at(-1)?.kind === 'text' },
  { name: 'after the call', isAt: (shown) => shown.at(-1)?.kind === 'call' },
  { name: 'while the tool runs', isAt: (shown) => shown.at(-1)?.kind === 'tool-runs' },
  { name: 'after the result', isAt: (shown) => shown.at(-1)?.kind === 'result' },
  { name: 'in the middle of the answer', isAt: (shown) => textOf(shown).includes('word12 ') },
] as const satisfies readonly { name: string; isAt: (shown: readonly Shown[]) => boolean }[]

type Shown =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'call' | 'result'; readonly id: string }
  | { readonly kind: 'tool-runs' | 'resumed' }
  | { readonly kind: 'took'; readonly ms: number; readonly cpuMs: number }
  | ({ readonly kind: 'reloaded' } & Reloaded)

interface Reloaded {
  readonly hasQuestion: boolean
  readonly text: string
  readonly calls: readonly {
    readonly id: string
    readonly state: 'done' | 'ended' | 'open' | 'asks'
  }[]
}

const textOf = (shown: readonly Shown[]): string =>
  shown.map((one) => (one.kind === 'text' ? one.text : '')).join('')
/** Spaces at the ends of texts are the systems' own matter. */
const squeeze = (text: string): string => text.replaceAll(/\s+/g, '')
const lastWord = 'word39'

install()
const postgres = await startPostgres()
try {
  if (only !== 'time') await printCrashes()
  if (only !== 'crash') await printTimes()
} finally {
  await postgres.stop()
  rmSync(scratch, { recursive: true, force: true })
}

async function printCrashes(): Promise<void> {
  const rows = []
  for (const system of chosen) rows.push(await tryToKill(system))
  print('Killed at five places of a turn, then reloaded', [
    [
      '',
      'question kept',
      'text shown and gone',
      'calls shown and gone',
      'calls left open',
      'tool ran twice',
      'answer whole',
      'asks a person',
    ],
    ...rows,
  ])
}

async function printTimes(): Promise<void> {
  // In turns, and the fastest of each: the machine has other things to do.
  const took = new Map<System, { readonly ms: number; readonly cpuMs: number }[]>()
  for (let round = 0; round < 3; round++) {
    for (const system of chosen)
      took.set(system, [...(took.get(system) ?? []), ...(await time(system))])
  }
  const least = (values: readonly number[]) => `${Math.min(...values).toFixed(1)} ms`
  print('A turn without pauses: the least of 90', [
    ['', 'time', 'CPU of its process'],
    ...[...took].map(([{ name }, turns]) => [
      name,
      least(turns.map(({ ms }) => ms)),
      least(turns.map(({ cpuMs }) => cpuMs)),
    ]),
  ])
}

function install(): void {
  if (existsSync(join(folder, 'node_modules/ai'))) return
  if (runCommand('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder }) !== 0) {
    throw new Error('The systems could not be installed, see above.')
  }
}

async function tryToKill(system: System): Promise<readonly string[]> {
  const counts = { question: 0, textGone: 0, callsGone: 0, open: 0, twice: 0, whole: 0, asks: 0 }
  for (const [index, { name, isAt }] of killPoints.entries()) {
    const broker = createBroker()
    const { address, remove } = await openDatabase(system)
    const effects = join(scratch, `effects-${system.file}-${system.database}-${index}`)
    const asked = start(system, 'ask', address, 'a-thread-of-peers', effects, true)
    broker.serve(asked.child)
    const shown: Shown[] = []
    for await (const one of asked.lines) {
      shown.push(one)
      if (asked.child.exitCode === null && !asked.child.killed && isAt(shown))
        asked.child.kill('SIGKILL')
    }
    if (!asked.child.killed) throw new Error(`${system.name} was not killed ${name}.`)
    broker.leave(asked.child)
    const after = start(system, 'recover', address, 'a-thread-of-peers', effects, true)
    broker.serve(after.child)
    let reloaded: Reloaded | undefined
    for await (const one of after.lines) if (one.kind === 'reloaded') reloaded = one
    if (reloaded === undefined)
      throw new Error(`${system.name} could not be read after it was killed ${name}.`)
    await remove()

    const { calls, text } = reloaded
    const runs = existsSync(effects) ? readFileSync(effects, 'utf8').split('\n').length - 1 : 0
    counts.question += Number(reloaded.hasQuestion)
    counts.textGone += Number(!squeeze(text).startsWith(squeeze(textOf(shown))))
    // There is one call, so any is it: a system may give it an id of its own.
    counts.callsGone += Number(shown.some(({ kind }) => kind === 'call') && calls.length === 0)
    counts.open += Number(calls.some(({ state }) => state === 'open'))
    counts.twice += Number(runs > 1)
    counts.whole += Number(text.includes(lastWord))
    counts.asks += Number(calls.some(({ state }) => state === 'asks'))
  }
  const of = (count: number) => `${count} of ${killPoints.length}`
  const { question, textGone, callsGone, open, twice, whole, asks } = counts
  return [
    system.name,
    of(question),
    of(textGone),
    of(callsGone),
    of(open),
    of(twice),
    of(whole),
    of(asks),
  ]
}

async function time(system: System) {
  const broker = createBroker()
  const { address, remove } = await openDatabase(system)
  const effects = join(scratch, 'effects')
  const running = start(system, 'time', address, 'a-thread-of-peers', effects, false)
  broker.serve(running.child)
  const turns: { readonly ms: number; readonly cpuMs: number }[] = []
  for await (const one of running.lines) if (one.kind === 'took') turns.push(one)
  await remove()
  // The first ten are for warming up.
  if (turns.length < 20) throw new Error(`${system.name} gave up after ${turns.length} turns.`)
  return turns.slice(10)
}

async function openDatabase({ database, file }: System) {
  if (database === 'file') {
    return { address: join(mkdtempSync(join(scratch, `${file}-`)), 'chat'), remove: async () => {} }
  }
  const created = await createDatabase(postgres.url)
  return { address: created.url, remove: () => created.drop() }
}

function start(
  { file }: System,
  verb: 'ask' | 'recover' | 'time',
  address: string,
  threadId: string,
  effects: string,
  pauses: boolean,
) {
  const child = spawn(
    process.execPath,
    [join(folder, 'process.mjs'), file, verb, address, threadId],
    {
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
      env: { ...process.env, PEERS_EFFECTS: effects, PEERS_PAUSES: pauses ? '1' : '0' },
    },
  )
  return { child, lines: readLines(child) }
}

async function* readLines(child: ChildProcess): AsyncGenerator<Shown, void> {
  if (child.stdout === null) return
  for await (const line of createInterface(child.stdout)) {
    if (line.startsWith('{')) yield JSON.parse(line) as Shown
  }
}

function print(title: string, rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  )
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  console.log(`\n${title}\n  ${lines.join('\n  ')}`)
}
