import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  checkStore,
  foldThread,
  type Holdfast,
  type Message,
  type Store,
  type ThreadView,
  type Turn,
} from 'holdfast'
import { postgres } from 'holdfast/postgres'
import { sqlite } from 'holdfast/sqlite'
import pg from 'pg'
import { describe, expect, inject, it } from 'vitest'
import { createDatabase } from '../support/create-database.ts'
import { programArguments } from '../support/programs.ts'
import {
  contentOf,
  inputsOf,
  openConversation,
  ownerId,
  type Play,
  send,
  threadId,
  upload,
} from './conversation.ts'

interface Setup {
  readonly database: string
  readonly open: () => Store
  /** The ids of all files of which bytes are kept. */
  readonly keptFiles: () => Promise<readonly string[]>
  readonly drop: () => Promise<void>
}

async function createSetup(kind: 'sqlite' | 'postgres'): Promise<Setup> {
  if (kind === 'postgres') {
    const made = await createDatabase(inject('postgresUrl'))
    const { url } = made
    return {
      database: url,
      open: () => postgres(url),
      keptFiles: () => readPieces(url),
      drop: () => made.drop(),
    }
  }
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-conversation-'))
  const database = join(folder, 'chat.db')
  return {
    database,
    open: () => sqlite(database),
    keptFiles: async () =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && entry.name.startsWith('file_'))
        .map(({ name }) => name)
        .sort(),
    drop: async () => rmSync(folder, { recursive: true }),
  }
}

async function readPieces(connectionString: string): Promise<readonly string[]> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  const sql = 'SELECT DISTINCT file_id AS id FROM holdfast.file_pieces ORDER BY 1'
  const { rows } = await client.query<{ readonly id: string }>(sql)
  await client.end()
  return rows.map(({ id }) => id)
}

/** What people had been told when it ended. */
interface Reported {
  readonly isKilled: boolean
  readonly writes: number
  readonly accepted: ReadonlyMap<string, string>
  readonly urls: ReadonlyMap<string, string>
  readonly said: ReadonlySet<string>
}

type Line = Readonly<Record<string, string | undefined>>

function runProcess(database: string, play: Play, when: string, place: number): Promise<Reported> {
  const program = programArguments('test/crash/conversation-process.ts')
  const args = [...program, database, play, when, String(place)]
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, (error, stdout, stderr) => {
      const signal = (error as { signal?: string } | null)?.signal ?? null
      if (error !== null && signal === null) {
        reject(new Error(`The process failed by itself: ${stderr}`))
        return
      }
      const lines = stdout
        .split('\n')
        .filter((line) => line.endsWith('}'))
        .map((line) => JSON.parse(line) as Line)
      const pairs = (key: string, value: string) =>
        lines.flatMap((line) =>
          line[key] === undefined ? [] : ([[line[key], line[value] ?? '']] as const),
        )
      resolve({
        isKilled: signal === 'SIGKILL',
        writes: Number(lines.find(({ writes }) => writes !== undefined)?.writes ?? 0),
        accepted: new Map(pairs('accepted', 'kind')),
        urls: new Map(pairs('uploaded', 'url')),
        said: new Set(lines.flatMap((line) => Object.keys(line))),
      })
    })
  })
}

/** Another process takes over; whoever got no answer sends again; what is held is sent on. */
async function recover(holdfast: Holdfast, play: Play, reported: Reported): Promise<void> {
  for (const input of inputsOf[play]) {
    if (reported.accepted.has(input.id)) continue
    const { file } = input
    const url =
      file === undefined ? undefined : (reported.urls.get(file) ?? (await upload(holdfast, file)))
    await send(holdfast, input, url)
  }
  const stop = new AbortController()
  let view: ThreadView = { seq: 0, messages: [] }
  for await (const frame of holdfast.subscribe(threadId, 0, stop.signal)) {
    view = foldThread(view, frame.changes)
    const { queue = [], messages } = view
    const isOpen = messages.some(
      (message) => isTurn(message) && message.progress.status !== 'ended',
    )
    const isBehind = (await holdfast.threads.get(threadId))?.seq !== view.seq
    if (isOpen || isBehind) continue
    // Nothing runs: whatever waits is held, or nobody would ever answer it (IN2).
    expect(queue.filter(({ held }) => !held)).toEqual([])
    if (queue.length === 0) break
    await holdfast.queues.release(threadId)
  }
  stop.abort()
  await holdfast.settled()
}

const isTurn = (message: Message): message is Turn => message.role === 'assistant'

const textOf = ({ steps }: Turn): string =>
  steps
    .flatMap(({ parts }) => parts)
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('')

/** What was said, in its order: of each message how often, and how it was answered. */
function summarize(messages: readonly Message[]) {
  const said = messages.flatMap((message) =>
    isTurn(message)
      ? message.steps.flatMap(({ parts }) =>
          parts.flatMap((part) => (part.type === 'steering' ? [part.id] : [])),
        )
      : [message.id],
  )
  const answers = (id: string) =>
    messages.filter((message): message is Turn => isTurn(message) && message.replyTo === id)
  return { said, answers }
}

function checkConversation(play: Play, reported: Reported, messages: readonly Message[]): void {
  const { said, answers } = summarize(messages)
  const sent = inputsOf[play].map(({ id }) => id)
  const isGone = (id: string) => play === 'queue' && id === 'u4' && !said.includes(id)
  // Nothing lost, nothing twice.
  expect(said.toSorted()).toEqual(sent.filter((id) => !isGone(id)).toSorted())
  if (reported.said.has('withdrawn')) expect(said).not.toContain('u4')
  for (const message of messages) {
    if (isTurn(message)) continue
    const [answer, ...more] = answers(message.id)
    expect([message.id, more.length]).toEqual([message.id, 0])
    expect(answer?.progress).toMatchObject({ status: 'ended' })
  }
  const place = (id: string) => said.indexOf(id)
  const endingOf = (id: string) => answers(id)[0]?.progress
  const completed = { ending: { kind: 'completed' } }
  switch (play) {
    case 'queue': {
      for (const id of said) expect(endingOf(id)).toMatchObject(completed)
      const isMoved = place('u3') < place('u2')
      if (reported.said.has('moved')) expect(isMoved).toBe(true)
      const words = answers('u3').map(textOf)
      if (reported.said.has('edited')) expect(words).toEqual(['answer to edited'])
      expect(['answer to edited', 'answer to text of u3']).toContain(words[0])
      expect(answers('u2').map(textOf)).toEqual(['answer to text of u2'])
      return
    }
    case 'steer': {
      const turn = answers('u1')[0]
      const isSteered = turn?.steps.some(({ parts }) =>
        parts.some(({ type }) => type === 'steering'),
      )
      // Accepted as what steers the turn that runs, it does, however many processes that takes.
      if (reported.accepted.get('aside') === 'steering') {
        expect(isSteered).toBe(true)
        expect(turn === undefined ? '' : textOf(turn)).toBe('answer to text of aside')
      }
      for (const id of ['u1', 'u2']) expect(endingOf(id)).toMatchObject(completed)
      return
    }
    case 'interrupt':
      if (reported.accepted.has('now')) {
        expect(endingOf('u1')).toMatchObject({ ending: { kind: 'stopped' } })
        expect(place('now')).toBe(1)
      }
      expect(endingOf('now')).toMatchObject(completed)
      expect(answers('now').map(textOf)).toEqual(['answer to text of now'])
      return
    case 'stop':
      if (reported.said.has('stopped')) {
        expect(endingOf('u1')).toMatchObject({ ending: { kind: 'stopped' } })
      }
      expect(said).toEqual(['u1', 'u2', 'u3'])
      return
    case 'files':
      for (const id of said) expect(endingOf(id)).toMatchObject(completed)
  }
}

/** Every file that a message names is there as a whole, and no other is, once what is unused is collected (FL2). */
async function checkFiles(setup: Setup, holdfast: Holdfast, messages: readonly Message[]) {
  const named = messages.flatMap((message) =>
    isTurn(message)
      ? []
      : message.parts.flatMap((part) => (part.type === 'file' ? [part.url.slice(-37)] : [])),
  )
  expect(named).toHaveLength(2)
  await holdfast.files.collect()
  for (const [index, id] of named.entries()) {
    expect(await holdfast.files.get(id, { ownerId })).toMatchObject({ bytes: 300_000 })
    const pieces: Uint8Array[] = []
    for await (const piece of (await holdfast.files.read(id)) ?? []) pieces.push(piece)
    expect(Buffer.concat(pieces).equals(contentOf(`f${index + 1}`))).toBe(true)
  }
  expect(await setup.keptFiles()).toEqual(named.toSorted())
}

async function readAll(store: Store): Promise<readonly Message[]> {
  const query = { threadId, limit: 100, before: null, live: 'include', results: 'full' } as const
  return (await store.readPage(query))?.messages.toReversed() ?? []
}

const plays: readonly (readonly [rules: string, what: string, play: Play])[] = [
  ['IN2 CR1', 'queue, edit, move, withdraw, end, next turn', 'queue'],
  ['IN3 CR1', 'steer, next step', 'steer'],
  ['IN4 CR1', 'interrupt', 'interrupt'],
  ['IN5 CR1', 'stop, release', 'stop'],
  ['FL1 FL2 CR1', 'upload, send, collect', 'files'],
]

describe.each(['sqlite', 'postgres'] as const)('killed at its writes on %s', (kind) => {
  it.each(plays)(
    '[%s] %s: nothing is lost, answered twice or waits for nobody',
    async (_rules, _what, play) => {
      const dry = await createSetup(kind)
      const { writes } = await runProcess(dry.database, play, 'never', 0)
      await dry.drop()
      expect(writes).toBeGreaterThan(5)
      // The state after one write is the state before the next, so one of the two moments is enough. What is planned and
      // folded is the same on both databases: the slower one dies at every third place.
      const places = Array.from({ length: writes }, (_, index) => index + 1)
      const deaths =
        kind === 'sqlite'
          ? places.map((place) => ({ when: 'before', place }))
          : places.filter((place) => place % 3 === 0).map((place) => ({ when: 'after', place }))
      let killed = 0
      const die = async ({ when, place }: (typeof deaths)[number]) => {
        const setup = await createSetup(kind)
        const reported = await runProcess(setup.database, play, when, place)
        const store = setup.open()
        const holdfast = openConversation({ store, execute: async () => 'done' })
        try {
          // How many writes there are depends on timing by one or two: past the end nobody dies.
          if (reported.isKilled) killed++
          await recover(holdfast, play, reported)
          const messages = await readAll(store)
          checkConversation(play, reported, messages)
          if (play === 'files') await checkFiles(setup, holdfast, messages)
          expect((await checkStore(store)).found).toBe(0)
        } catch (error) {
          throw new Error(`killed ${when} write ${place}`, { cause: error })
        } finally {
          await holdfast.close()
          await store.close()
          await setup.drop()
        }
      }
      // Two at a time: more would only make them wait for each other.
      for (let at = 0; at < deaths.length; at += 2) {
        await Promise.all(deaths.slice(at, at + 2).map(die))
      }
      expect(killed).toBeGreaterThan(deaths.length - 4)
    },
    900_000,
  )
})
