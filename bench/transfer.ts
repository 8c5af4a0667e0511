import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import {
  type MessageId,
  type NewEvent,
  parseMessageId,
  parseOwnerId,
  parseThreadId,
  type Store,
} from 'holdfast'
import { postgres } from 'holdfast/postgres'
import { sqlite } from 'holdfast/sqlite'
import { startPostgres } from '../test/support/postgres-server.ts'
import { printTable, type Row } from './measure.ts'
import { createThreadWriter } from './thread-writer.ts'

const sizes = { messages: 100_000, events: 1_000_000 } as const

/** The commands on much data: how long, and how much memory at the most. */
export async function benchTransfer(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'))
  const own = process.env['HOLDFAST_TEST_PG']
  const server = own === undefined ? await startPostgres() : { url: own, stop: async () => {} }
  const few = join(folder, 'few.json')
  const many = join(folder, 'many.json')
  await writeThreads(few, 1)
  await writeThreads(many, 1_000)
  const bench = async (name: string, place: string, open: () => Store) => {
    const rows: Row[] = []
    const run = async (what: string, ...args: readonly string[]) => {
      rows.push({ what, measured: await runCommand([...args, '--db', place]) })
    }
    await run('import of 100,000 messages, 1 thread', 'import', few)
    await run('import of 100,000 messages, 1,000 threads', 'import', many)
    await run('the same again', 'import', many)
    await run('export of 200,000 messages', 'export', '--all')
    await fillEvents(open())
    await run('check of 1,000,000 events and the rest', 'check')
    // One database at a time: the second takes minutes.
    printTable(`Transfer on ${name}: turns of one call`, rows)
  }
  await bench('SQLite', join(folder, 'chat.db'), () => sqlite(join(folder, 'chat.db')))
  await bench('PostgreSQL', server.url, () => postgres(server.url))
  await server.stop()
  rmSync(folder, { recursive: true })
}

/** Runs the executable; says its time and the most memory that it took. */
async function runCommand(args: readonly string[]): Promise<string> {
  const printPeak = 'process.on("exit",()=>console.error("peak",process.resourceUsage().maxRSS))'
  const started = performance.now()
  const child = spawn(
    process.execPath,
    [
      '--conditions=holdfast-source',
      `--import=data:text/javascript,${encodeURIComponent(printPeak)}`,
      join(import.meta.dirname, '../src/cli/holdfast.ts'),
      ...args,
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  child.stdout.resume()
  const [err] = await Promise.all([text(child.stderr), once(child, 'close')])
  const seconds = (performance.now() - started) / 1_000
  const peak = Number(/peak (\d+)/.exec(err)?.[1] ?? Number.NaN) / 1_024
  if (child.exitCode !== 0) throw new Error(err)
  return `${seconds.toFixed(1)} s, ${peak.toFixed(0)} MB`
}

async function writeThreads(file: string, threads: number): Promise<void> {
  const perThread = sizes.messages / threads / 2
  function* write(): Generator<string> {
    yield '{"threads":['
    for (let thread = 0; thread < threads; thread++) {
      yield `${thread === 0 ? '' : ','}{"id":"${threads}-${thread}","messages":[`
      for (let turn = 0; turn < perThread; turn++) {
        const id = `${threads}-${thread}-${turn}`
        const question = { id: `u-${id}`, role: 'user', content: 'What is the weather in Oslo?' }
        const toolInvocation = {
          state: 'result',
          toolCallId: `c-${id}`,
          toolName: 'weather',
          args: { city: 'Oslo' },
          result: { degrees: turn, words: 'x'.repeat(300) },
        }
        const answer = {
          id: `a-${id}`,
          role: 'assistant',
          content: 'It is cold.',
          parts: [
            { type: 'tool-invocation', toolInvocation },
            { type: 'text', text: 'It is cold.' },
          ],
        }
        yield `${turn === 0 ? '' : ','}${JSON.stringify(question)},${JSON.stringify(answer)}`
      }
      yield ']}'
    }
    yield ']}'
  }
  await pipeline(Readable.from(write()), createWriteStream(file))
}

/** Turns that wait, so that their events are all still there. */
async function fillEvents(store: Store): Promise<void> {
  const perTurn = 5_000
  for (let index = 0; index < sizes.events / perTurn; index++) {
    const threadId = parseThreadId(`open-${index}`)
    const turnId = parseMessageId(`open-turn-${index}`)
    await store.createThread({ id: threadId, ownerId: parseOwnerId('bench'), title: '', at: 1 })
    await createThreadWriter(store, threadId).write(openTurn(turnId, perTurn))
  }
  await store.close()
}

function openTurn(turnId: MessageId, size: number): readonly NewEvent[] {
  const of = { turnId, at: 1 } as const
  const block = { ...of, block: '0' } as const
  return [
    { ...of, type: 'turn-started', replyTo: null },
    { ...of, type: 'step-started', step: 0 },
    { ...block, type: 'text-started', kind: 'text' },
    ...Array.from({ length: size - 4 }, (): NewEvent => ({
      ...block,
      type: 'text-appended',
      delta: 'a few more words, ',
    })),
    { ...of, type: 'turn-paused', waitingFor: 'client' },
  ]
}
