import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createRandom, type Random } from '../../src/testing/random.ts'
import { createDatabase } from '../support/create-database.ts'
import { typeStripping } from '../support/type-stripping.ts'
import {
  type CallRecord,
  type Evidence,
  findViolations,
  isHeld,
  type PageMessage,
  Shown,
} from './evidence.ts'
import { faults, undoFaults } from './faults.ts'
import { type Fleet, startFleet } from './fleet.ts'
import { sendRequest, requestJson } from './http.ts'
import { actAsPerson, decideOnce } from './people.ts'
import { type TortureContext, CoverageCounters } from './torture-context.ts'

export interface TortureOptions {
  readonly store: TortureContext['store']
  /** Where databases can be made; for PostgreSQL alone. */
  readonly postgresUrl?: string
  readonly seed: number
  /** How long it goes on at least. */
  readonly seconds: number
  /** And until this has happened, whatever the machine needs for it. */
  readonly until?: (counts: TortureReport['counts']) => boolean
}

export interface TortureReport {
  readonly counts: ReadonlyMap<string, number>
  readonly longestHealthMs: number
  readonly memory: Evidence['memory']
  readonly violations: readonly string[]
}

const people = 6
const serverCount = 3
const faultsAtOnce = 3
// Nothing is measured with these: they end what would go on for ever.
const streamsEndMs = 30_000
/** A missed change is looked for every five seconds, and machines are slow. */
const endlessMs = 60_000
const quiesceMs = 240_000
const memoryMs = 60_000

/** A torture run over one store, and what is left when it is over. */
export async function torture(options: TortureOptions): Promise<TortureReport> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-torture-'))
  const trace = join(folder, 'trace.log')
  writeFileSync(trace, '')
  const database = await openDatabase(options, folder)
  let fleet: Fleet | undefined
  try {
    fleet = await startFleet({ db: database.db, trace, size: serverCount })
    return await rage(options, fleet, database.db, trace)
  } finally {
    await fleet?.close()
    await database.drop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function openDatabase({ store, postgresUrl }: TortureOptions, folder: string) {
  if (store === 'sqlite') return { db: join(folder, 'chat.db'), drop: async () => undefined }
  if (postgresUrl === undefined) throw new Error('There is no PostgreSQL to torture.')
  const database = await createDatabase(postgresUrl)
  return { db: database.url, drop: () => database.drop() }
}

async function rage(
  { store, seed, seconds, until = () => true }: TortureOptions,
  fleet: Fleet,
  db: string,
  trace: string,
): Promise<TortureReport> {
  const [over, leaving] = [new AbortController(), new AbortController()]
  const context: TortureContext = {
    store,
    db,
    fleet,
    shown: new Shown(),
    coverage: new CoverageCounters(),
    threads: new Map(),
    gaps: [],
    over: over.signal,
    streams: new Set(),
    leaving: leaving.signal,
    randomFor: (actor) => createRandom(actor.split('').reduce(mix, seed)),
  }
  const [survivor] = fleet.servers
  if (survivor === undefined) throw new Error('There is no server.')
  const before = await survivor.memory()
  const health = watchHealth(context)
  const asking = Promise.all(
    Array.from({ length: people }, (_, index) => actAsPerson(context, `person-${index + 1}`)),
  )
  const injecting = Promise.all(
    Array.from({ length: faultsAtOnce }, (_, index) => injectFaults(context, `harm-${index + 1}`)),
  )
  const passing = (async () => {
    await pause(seconds * 1_000)
    while (!until(context.coverage.counts) && !over.signal.aborted) await pause(100)
  })()
  // One of the others alone ends early: with an error.
  await Promise.race([passing, asking, injecting])
  over.abort()
  await injecting
  await undoFaults(context)
  const endless = await awaitStreams(context)
  leaving.abort()
  await asking
  const stuck = await quiesce(context)
  const longestHealthMs = await health
  const pages = await readPages(context)
  const calls = await readCalls(context, pages)
  const memory = { before, after: await survivor.memory() }
  // Sockets that were left and answers that nobody takes are let go of in their own time.
  const patience = performance.now() + memoryMs
  while (isHeld(memory) && performance.now() < patience) {
    await pause(500)
    memory.after = await survivor.memory()
  }
  const evidence: Evidence = {
    shown: context.shown,
    pages,
    calls,
    trace: readFileSync(trace, 'utf8').split('\n').filter(Boolean),
    stuck,
    endless,
    gaps: context.gaps,
    crashes: fleet.servers.flatMap(({ crashes }) => crashes),
    memory,
    problems: await check(db),
  }
  context.coverage.add('threads', context.threads.size)
  context.coverage.add('turns shown', context.shown.turns.size)
  context.coverage.add('calls', calls.length)
  context.coverage.add('times that a tool ran', evidence.trace.length)
  return {
    counts: context.coverage.counts,
    longestHealthMs,
    memory,
    violations: findViolations(evidence),
  }
}

const mix = (hash: number, letter: string): number =>
  (Math.imul(hash, 31) + (letter.codePointAt(0) ?? 0)) >>> 0

/** One fault after the other, drawn from those that this store can have. */
async function injectFaults(context: TortureContext, name: string): Promise<void> {
  const random = context.randomFor(name)
  const possible = faults.filter(({ stores }) => stores.includes(context.store))
  while (!context.over.aborted) {
    const fault = random.pick(possible)
    // One fault can be in the way of another, as a lock is in the way of a lock.
    const isDone = await fault.run(context, random).catch(() => false)
    context.coverage.add(isDone ? `fault: ${fault.name}` : 'faults that could not be done')
    await pause(random.int(800))
  }
}

/** The longest that anybody had to wait for `/api/health` of a server that no fault had in its hands. */
async function watchHealth({ fleet, over }: TortureContext): Promise<number> {
  let longest = 0
  while (!over.aborted) {
    for (const server of fleet.servers) {
      const url = server.url()
      if (url === undefined || server.isHeld) continue
      const { timesHeld } = server
      const begun = performance.now()
      const response = await sendRequest(`${url}/api/health`, { owner: 'watcher' })
      await response?.body?.cancel()
      // Otherwise it may have been frozen meanwhile.
      if (server.timesHeld === timesHeld && response !== undefined) {
        longest = Math.max(longest, performance.now() - begun)
      }
    }
    await pause(50)
  }
  return longest
}

/**
 * With no more faults, every turn ends or waits, and with it the streams of its answer. Resolves with those that stay
 * open although nothing is live in their thread: a person there would see an answer in the making, for ever.
 */
async function awaitStreams(context: TortureContext): Promise<readonly string[]> {
  const random = context.randomFor('readers at the end')
  const until = performance.now() + streamsEndMs
  // A message that a stop has held is answered once a person sends it on (IN5): until then its stream is rightly open.
  for (const { threadId, owner } of context.streams) {
    const release = `${context.fleet.pick(random)}/api/threads/${threadId}/queue/release`
    await requestJson(release, { owner, method: 'POST' })
  }
  while (context.streams.size > 0 && performance.now() < until) await pause(100)
  const endless: string[] = []
  for (const stream of context.streams) {
    const { threadId, owner, url } = stream
    const resume = `${context.fleet.pick(random)}/api/chat/${threadId}/stream`
    const answer = await sendRequest(resume, { owner })
    await answer?.body?.cancel()
    if (answer?.status !== 204) continue
    const page = await readPage(context, random, threadId, 'limit=1')
    if (page == null || (page.queue ?? []).length > 0) continue
    // It may have ended just now.
    const patience = performance.now() + endlessMs
    while (context.streams.has(stream) && performance.now() < patience) await pause(100)
    if (!context.streams.has(stream)) continue
    const silentMs = performance.now() - stream.lastChunkAt
    endless.push(
      `${threadId}: ${url}, of the turn ${stream.turnId ?? '(none yet)'}; the last message of its thread is ${page.results[0]?.id}; for ${silentMs.toFixed(0)} ms nothing since ${stream.lastChunk}`,
    )
  }
  return endless
}

/**
 * People decide what waits, until every turn has ended; resolves with those that do not. A message can be taken long
 * after its sender has left, so all is looked at again as long as a server was at work meanwhile.
 */
async function quiesce(context: TortureContext): Promise<readonly string[]> {
  const random = context.randomFor('people at the end')
  const until = performance.now() + quiesceMs
  const areIdle = async () => {
    const idle = await Promise.all(context.fleet.servers.map((server) => server.isIdle()))
    return !idle.includes(false)
  }
  for (;;) {
    const wereIdle = await areIdle()
    const open: string[] = []
    for (const threadId of context.threads.keys()) {
      if (!(await isAtRest(context, random, threadId))) open.push(threadId)
    }
    if (open.length === 0 && wereIdle && (await areIdle())) return []
    if (performance.now() >= until) return open.length > 0 ? open : ['a server that is at work']
    await pause(200)
  }
}

async function isAtRest(
  context: TortureContext,
  random: Random,
  threadId: string,
): Promise<boolean> {
  const page = await readPage(context, random, threadId, 'limit=2')
  if (page === undefined) return false
  // Nobody got through with the first message.
  if (page === null) return true
  // What waits is answered once the turn before it has ended; what a stop has held, once a person sends it on (IN5).
  const { queue = [] } = page
  if (queue.length > 0) {
    const turnId = page.results.find(({ role }) => role === 'assistant')?.id
    if (turnId !== undefined) await decideOnce(context, random, threadId, turnId)
    const owner = context.threads.get(threadId) ?? ''
    const release = `${context.fleet.pick(random)}/api/threads/${threadId}/queue/release`
    await requestJson(release, { owner, method: 'POST' })
    return false
  }
  const turn = page.results.find(({ role }) => role === 'assistant')
  // A message without its turn waits for somebody to take it up, or for a person to send it again.
  if (turn === undefined || page.results[0]?.id !== turn.id) {
    return context.shown.messages.get(threadId)?.has(page.results[0]?.id ?? '') !== true
  }
  return (await decideOnce(context, random, threadId, turn.id)) === true
}

interface Page {
  readonly results: readonly PageMessage[]
  readonly queue?: readonly { readonly held?: boolean }[]
  readonly nextCursor: string | null
}

/** null: there is no such thread; undefined: nobody could say. */
async function readPage(
  { fleet, threads }: TortureContext,
  random: Random,
  threadId: string,
  query: string,
): Promise<Page | null | undefined> {
  const owner = threads.get(threadId) ?? ''
  const url = `${fleet.pick(random)}/api/threads/${threadId}/messages?${query}`
  const answer = await requestJson(url, { owner })
  if (answer?.status === 404) return null
  return answer?.status === 200 ? (answer.json as Page) : undefined
}

async function readPages(
  context: TortureContext,
): Promise<ReadonlyMap<string, readonly PageMessage[]>> {
  const random = context.randomFor('reader at the end')
  const pages = new Map<string, readonly PageMessage[]>()
  for (const threadId of context.threads.keys()) {
    const messages: PageMessage[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const query = `limit=100${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`
      const page = await readPage(context, random, threadId, query)
      if (page === undefined) throw new Error(`After the context, ${threadId} cannot be read.`)
      messages.push(...(page?.results ?? []))
      cursor = page?.nextCursor ?? null
    }
    pages.set(threadId, messages)
  }
  return pages
}

async function readCalls(
  context: TortureContext,
  pages: Evidence['pages'],
): Promise<readonly CallRecord[]> {
  const random = context.randomFor('counter at the end')
  const calls: CallRecord[] = []
  for (const [threadId, messages] of pages) {
    const owner = context.threads.get(threadId) ?? ''
    if (!owner.startsWith('person')) continue
    for (const { id, role, parts } of messages) {
      if (role !== 'assistant' || parts.every(({ toolCallId }) => toolCallId === undefined))
        continue
      const url = `${context.fleet.pick(random)}/api/messages/${id}/tool-calls?include=all`
      const answer = await requestJson(url, { owner })
      if (answer?.status !== 200) throw new Error(`After the context, ${id} cannot be read.`)
      calls.push(...(answer.json as { readonly toolCalls: readonly CallRecord[] }).toolCalls)
    }
  }
  return calls
}

const executable = join(import.meta.dirname, '../../src/cli/holdfast.ts')

/** What `holdfast check` says, if it does not find everything in order. */
function check(db: string): Promise<readonly string[]> {
  const args = [...typeStripping, '--conditions=holdfast-source', executable, 'check', '--db', db]
  return new Promise((resolve) => {
    execFile(process.execPath, args, { maxBuffer: 64e6 }, (error, stdout, stderr) => {
      resolve(error === null ? [] : `${stdout}${stderr}`.split('\n').filter(Boolean).slice(0, 20))
    })
  })
}
