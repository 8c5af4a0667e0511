import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { callsOf, foldThread, type Message, type Store, type ThreadView, type Turn } from 'holdfast'
import { postgres } from 'holdfast/postgres'
import { sqlite } from 'holdfast/sqlite'
import { describe, expect, inject, it } from 'vitest'
import { createDatabase } from '../support/create-database.ts'
import { programArguments } from '../support/programs.ts'
import { startTransactionPooler } from '../support/transaction-pooler.ts'
import {
  sendText,
  openScenario,
  patientLimits,
  playPeople,
  question,
  threadId,
} from './scenario.ts'

interface Setup {
  readonly database: string
  readonly effects: string
  readonly open: () => Store
  readonly drop: () => Promise<void>
}

/** `isPooled`: PostgreSQL is reached through a pooler in transaction mode. */
async function createSetup(kind: 'sqlite' | 'postgres', isPooled = false): Promise<Setup> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-crash-'))
  const effects = join(folder, 'effects.log')
  writeFileSync(effects, '')
  const remove = () => rmSync(folder, { recursive: true })
  if (kind === 'sqlite') {
    const database = join(folder, 'chat.db')
    return { database, effects, open: () => sqlite(database), drop: async () => remove() }
  }
  const database = await createDatabase(inject('postgresUrl'))
  const pooler = isPooled ? await startTransactionPooler(database.url) : null
  const { url } = pooler ?? database
  return {
    database: url,
    effects,
    open: () => postgres(url, patientLimits),
    drop: async () => {
      remove()
      await pooler?.close()
      await database.drop()
    },
  }
}

interface ProcessExit {
  readonly signal: string | null
  readonly commits: number | null
  /** The last thing that a follower had been shown. */
  readonly shown: readonly Message[]
}

/** Starts a real process that kills itself at a commit, or finishes. */
function runProcess(
  { database, effects }: Setup,
  when: string,
  place: number,
): Promise<ProcessExit> {
  const program = programArguments('test/crash/fault-injecting-process.ts')
  const args = [...program, database, effects, when, String(place)]
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { maxBuffer: 64e6 }, (error, stdout, stderr) => {
      const signal = (error as { signal?: string } | null)?.signal ?? null
      if (error !== null && signal === null) {
        reject(new Error(`The process failed by itself: ${stderr}`))
        return
      }
      const lines = stdout
        .split('\n')
        .filter((line) => line.endsWith('}'))
        .map((line) => JSON.parse(line) as { shown?: readonly Message[]; commits?: number })
      resolve({
        signal,
        commits: lines.find(({ commits }) => commits !== undefined)?.commits ?? null,
        shown: lines.findLast(({ shown }) => shown !== undefined)?.shown ?? [],
      })
    })
  })
}

/** Another process takes over, people decide what waits, and the next message is sent. */
async function recover(setup: Setup): Promise<{ readonly turn: Turn; readonly next: Turn }> {
  const store = setup.open()
  const holdfast = openScenario(store, setup.effects)
  const stop = new AbortController()
  try {
    // A process that died before its first commit left no message: it is simply sent again.
    await sendText(holdfast, question, 'u1')
    let view: ThreadView = { seq: 0, messages: [] }
    for await (const frame of holdfast.subscribe(threadId, 0, stop.signal)) {
      view = foldThread(view, frame.changes)
      const turn = view.messages.at(-1)
      if (turn?.role !== 'assistant') continue
      if (turn.progress.status === 'waiting') await playPeople(holdfast, turn)
      if (turn.progress.status === 'ended') break
    }
    await holdfast.settled()
    const turn = await lastTurn(store)
    expect(await sendText(holdfast, 'Are you there?', 'u2')).toMatchObject({ kind: 'started' })
    await holdfast.settled()
    return { turn, next: await lastTurn(store) }
  } finally {
    stop.abort()
    await holdfast.close()
    await store.close()
  }
}

async function lastTurn(store: Store): Promise<Turn> {
  const query = { threadId, limit: 1, before: null, live: 'include', results: 'full' } as const
  const last = (await store.readPage(query))?.messages[0]
  if (last?.role !== 'assistant') throw new Error('no turn')
  return last
}

function checkNothingIsLost(shown: readonly Message[], turn: Turn): void {
  const seen = shown.find((message): message is Turn => message.id === turn.id)
  if (seen === undefined) return
  const calls = new Map([...callsOf(turn)].map((call) => [call.id, call]))
  for (const call of callsOf(seen)) {
    const now = calls.get(call.id)
    expect(now).toBeDefined()
    // What had ended stays as it ended; only what nobody knew can have become known.
    if ('endedAt' in call && call.state !== 'unknown') expect(now).toEqual(call)
  }
  const texts = turn.steps
    .flatMap(({ parts }) => parts)
    .map((part) => ('text' in part ? part.text : ''))
  for (const step of seen.steps) {
    for (const part of step.parts) {
      if (part.type !== 'text') continue
      expect(texts.some((text) => text.startsWith(part.text))).toBe(true)
    }
  }
}

/** What a reader has read in the end: nothing twice (AG8). */
const textOf = ({ steps }: Turn): string =>
  steps
    .flatMap(({ parts }) => parts)
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('')

function checkEffects(setup: Setup): void {
  const lines = readFileSync(setup.effects, 'utf8').trim().split('\n').filter(Boolean)
  const count = (name: string) => lines.filter((line) => line.startsWith(`${name} `)).length
  expect(count('charge 2')).toBeLessThanOrEqual(1)
  expect(count('remove 4')).toBeLessThanOrEqual(1)
  expect(count('look 1')).toBeGreaterThanOrEqual(1)
  expect(count('look 3')).toBeGreaterThanOrEqual(1)
}

describe.each(['sqlite', 'postgres'] as const)('killed on %s', (kind) => {
  it('[CR1 CR3 CR4 CR5 AG8] at every commit of a turn: nothing is stuck, lost, run twice or said twice', async () => {
    const dry = await createSetup(kind)
    const { commits } = await runProcess(dry, 'never', 0)
    await dry.drop()
    expect(commits).toBeGreaterThan(6)
    let unknown = 0
    const deaths = ['before', 'after'].flatMap((when) =>
      Array.from({ length: commits ?? 0 }, (_, index) => ({ when, place: index + 1 })),
    )
    const die = async ({ when, place }: (typeof deaths)[number]) => {
      // Every other death is one behind a pooler: there is no session of the dead that could be told by.
      const setup = await createSetup(kind, place % 2 === 0)
      try {
        const { signal, shown } = await runProcess(setup, when, place)
        // How many commits a turn takes depends on timing by one or two: past the end nobody dies.
        if (signal === null) return
        expect(signal).toBe('SIGKILL')
        const { turn, next } = await recover(setup)
        expect(turn.progress).toMatchObject({ status: 'ended', ending: { kind: 'completed' } })
        for (const call of callsOf(turn)) expect(call).toHaveProperty('endedAt')
        expect(next.progress).toMatchObject({ ending: { kind: 'completed' } })
        checkNothingIsLost(shown, turn)
        checkEffects(setup)
        expect(textOf(turn)).toBe('Let me look. One more thing. All done.')
        unknown += [...callsOf(turn)].filter(({ resolution }) => resolution !== undefined).length
      } catch (error) {
        throw new Error(`killed ${when} commit ${place}`, { cause: error })
      } finally {
        await setup.drop()
      }
    }
    // Two at a time: more would only make them wait for each other.
    for (let at = 0; at < deaths.length; at += 2) {
      await Promise.all(deaths.slice(at, at + 2).map(die))
    }
    // Did the run do anything?
    expect(unknown).toBeGreaterThan(0)
  }, 240_000)
})
