import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { checkStore, createHoldfast, type Holdfast, importThreads, readImport } from 'holdfast'
import { scriptedModel } from 'holdfast/testing'
import { tool } from 'ai'
import { z } from 'zod'
import { openBenchStores } from './bench-stores.ts'
import { printTable, type Row } from './measure.ts'

const megabytes = 60
const goalMs = 20
const ownerId = 'slices'

/** How long each kind of long work keeps everybody else from the main thread at a time (OP7). */
export async function benchSlices(): Promise<void> {
  for (const benchStore of await openBenchStores()) {
    const { name, store } = benchStore
    const holdfast = createHoldfast({
      store,
      model: scriptedModel(({ prompt }) => {
        const last = prompt.at(-1)
        const calls = last?.role === 'user' ? callsFor(JSON.stringify(last.content)) : 0
        return calls === 0
          ? [{ text: 'Found.' }]
          : Array.from({ length: calls }, (_, nth) => ({ call: 'look', input: { nth } }))
      }),
      tools: {
        look: tool({
          inputSchema: z.object({ nth: z.number() }),
          execute: ({ nth }) => `${nth}`.padEnd(990_000, 'x'),
        }),
      },
      recoverEveryMs: 0,
    })
    const rows: Row[] = []
    for (const [what, work] of Object.entries(works)) {
      // Made before the clock runs: a client makes it, not the server.
      const pieces = cut(inputs[what]?.() ?? '')
      rows.push(await measure(what, () => work(holdfast, pieces)))
    }
    printTable(`${name}: the longest time that nobody else had the main thread`, rows)
    await holdfast.close()
    await benchStore.close()
  }
}

const [lookOnce, lookAtAll] = ['Look once.', 'Look at all of it.'] as const
const callsFor = (question: string): number =>
  question.includes(lookOnce) ? 1 : question.includes(lookAtAll) ? megabytes : 0

const messages = 40_000
const versions = 'versions'

/** Mostly code that runs for the first time, and is compiled: once in the life of a process. */
const firstTurn = 'the first turn, of one call'
/** Mostly SQLite's own check of the file, which is one statement. `holdfast check` is a process that serves nobody. */
const ownProcess = 'check'
const isBound = (what: string): boolean => what !== firstTurn && what !== ownProcess

const inputs: Readonly<Record<string, () => string>> = {
  [`import of ${megabytes} MB`]: () => writeThread('long', megabytes),
  'import of 8 MB of text in one message': () => writeText('text', 8),
  'import of 8 MB of results in one turn': () => writeResults('results', 8, 1_000_000),
  'import of 8 MB of small parts in one turn': () => writeResults('parts', 8, 1_000),
  [`import of ${messages} short messages`]: () => writeShort(versions),
}

type Work = (holdfast: Holdfast, pieces: readonly string[]) => Promise<unknown>

const works: Readonly<Record<string, Work>> = {
  'nothing for a second': () => pause(1_000),
  [`import of ${megabytes} MB`]: importPieces,
  'import of 8 MB of text in one message': importPieces,
  'import of 8 MB of results in one turn': importPieces,
  'import of 8 MB of small parts in one turn': importPieces,
  [`import of ${messages} short messages`]: importPieces,
  [firstTurn]: (holdfast) => runTurn(holdfast, 'first-turn', lookOnce),
  [`a turn of ${megabytes} MB`]: (holdfast) => runTurn(holdfast, 'turn', lookAtAll),
  [`a message in a thread of ${megabytes} MB`]: async (holdfast) => {
    await holdfast.send({
      threadId: 'long',
      message: { id: 'u-last', parts: [{ type: 'text', text: 'And?' }] },
    })
    await holdfast.settled()
  },
  [`edit of the first of ${messages} messages`]: (holdfast) => edit(holdfast),
  'its first version is shown again': (holdfast) => show(holdfast, 0),
  'its second version is shown again': (holdfast) => show(holdfast, 1),
  [`the first of ${messages} answers made anew`]: async (holdfast) => {
    await show(holdfast, 0)
    await holdfast.regenerate({ threadId: versions, messageId: `u-${versions}-0` })
    await holdfast.settled()
  },
  export: async (holdfast) => {
    for await (const _ of holdfast.export({ threadId: 'long' })) continue
  },
  'export of a huge turn': async (holdfast) => {
    for await (const _ of holdfast.export({ threadId: 'turn' })) continue
  },
  'the first search': (holdfast) => holdfast.search({ ownerId, q: 'a' }),
  'the second search': (holdfast) => holdfast.search({ ownerId, q: 'a' }),
  'a search that finds nothing': (holdfast) => holdfast.search({ ownerId, q: 'found nowhere' }),
  'a search for words that are in no text together': (holdfast) =>
    holdfast.search({ ownerId, q: 'look found' }),
  [`a link to ${megabytes} MB`]: (holdfast) => holdfast.shares.create('long'),
  'its revocation': async (holdfast) => {
    const [link] = (await holdfast.shares.list('long')) ?? []
    await holdfast.shares.revoke('long', link?.id ?? '')
  },
  fork: (holdfast) => holdfast.threads.fork('long', { id: 'copy' }),
  'fork of a huge turn': (holdfast) => holdfast.threads.fork('turn', { id: 'copied-turn' }),
  [ownProcess]: ({ store }) => checkStore(store),
  'delete of a thread': (holdfast) => holdfast.threads.delete('copy'),
  'delete of an owner': (holdfast) => holdfast.deleteOwner(ownerId),
}

/** Shorter ones are not worth a look. */
const noticedMs = 8

/** Looks at every turn of the event loop, by the clock and by the time that this thread really had. */
function watchTurns() {
  const turns: { readonly from: number; readonly to: number; readonly cpuMs: number }[] = []
  const collections: PerformanceEntry[] = []
  const isMajor = (entry: PerformanceEntry & { readonly detail?: unknown }) =>
    (entry.detail as { readonly kind?: number } | undefined)?.kind ===
    constants.NODE_PERFORMANCE_GC_MAJOR
  const note = (entries: readonly PerformanceEntry[]) => {
    for (const entry of entries) if (isMajor(entry)) collections.push(entry)
  }
  const observer = new PerformanceObserver((list) => note(list.getEntries()))
  observer.observe({ entryTypes: ['gc'] })
  let isOver = false
  let [cpu, wall] = [cpuMs(), performance.now()]
  const look = () => {
    const [cpuNow, wallNow] = [cpuMs(), performance.now()]
    const turn = { from: wall, to: wallNow, cpuMs: cpuNow - cpu }
    if (turn.cpuMs >= noticedMs || wallNow - wall >= noticedMs) turns.push(turn)
    ;[cpu, wall] = [cpuNow, wallNow]
    if (!isOver) setImmediate(look)
  }
  setImmediate(look)
  const longest = (numbers: readonly number[]) => Math.max(0, ...numbers)
  return () => {
    isOver = true
    note(observer.takeRecords())
    observer.disconnect()
    const own = turns.filter(
      ({ from, to }) =>
        !collections.some(
          (entry) => entry.startTime < to && entry.startTime + entry.duration > from,
        ),
    )
    return {
      cpuMs: longest(turns.map((turn) => turn.cpuMs)),
      ownMs: longest(own.map((turn) => turn.cpuMs)),
      wallMs: longest(turns.map(({ from, to }) => to - from)),
    }
  }
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

async function measure(what: string, work: () => Promise<unknown>): Promise<Row> {
  const stop = watchTurns()
  const begun = performance.now()
  await work()
  const seconds = (performance.now() - begun) / 1_000
  await pause(5)
  const longest = stop()
  return {
    what,
    measured: `${longest.ownMs.toFixed(0)} ms, or ${longest.cpuMs.toFixed(0)} with garbage collection (${longest.wallMs.toFixed(0)} ms by the clock); ${seconds.toFixed(1)} s in all`,
    ...(isBound(what) ? { ratio: longest.ownMs / goalMs, bar: 1 } : {}),
  }
}

async function edit(holdfast: Holdfast): Promise<void> {
  const parts = [{ type: 'text', text: 'Asked again.' }] as const
  const replaces = `u-${versions}-0`
  const message = { id: 'edited', parts }
  await holdfast.send({ threadId: versions, message, replaces })
  await holdfast.settled()
}

/** One of the versions of the first message, of which the second has no more than its answer after it. */
async function show(holdfast: Holdfast, nth: number): Promise<void> {
  const query = { order: 'oldest-first', limit: 1, live: 'include', results: 'lazy' } as const
  const page = await holdfast.store.readPage({ threadId: versions, before: null, ...query })
  const wanted = page?.messages[0]?.versions?.[nth]
  const shown = await holdfast.show(versions, `${wanted?.id ?? ''}@${wanted?.seq ?? 0}`)
  if (shown.kind !== 'shown') throw new Error(`not shown: ${shown.kind}`)
}

async function runTurn(holdfast: Holdfast, threadId: string, text: string): Promise<void> {
  await holdfast.threads.create({ id: threadId, ownerId })
  const parts = [{ type: 'text', text }] as const
  await holdfast.send({ threadId, message: { id: `u-${threadId}`, parts } })
  await holdfast.settled()
}

const cut = (text: string): readonly string[] =>
  Array.from({ length: Math.ceil(text.length / 65_536) }, (_, nth) =>
    text.slice(nth * 65_536, (nth + 1) * 65_536),
  )

async function importPieces({ store }: Holdfast, pieces: readonly string[]): Promise<void> {
  const source = async function* () {
    yield* pieces
  }
  const report = await importThreads(store, readImport(source()), { ownerId })
  if (report.failed.length > 0) throw new Error(JSON.stringify(report.failed[0]))
}

/** Turns of one call, as in `import-pauses`. */
function writeThread(id: string, size: number): string {
  const text = 'What was found, in a few words. '.repeat(32)
  const messages: string[] = []
  for (let written = 0, nth = 0; written < size * 1_000_000; nth++) {
    const question = { id: `u-${id}-${nth}`, role: 'user', content: `A look at ${nth}.` }
    const call = { id: `c-${id}-${nth}`, name: 'search', args: { q: nth }, result: { text } }
    const toolCalls = [{ ...call, status: 'completed' }]
    const answer = { id: `a-${id}-${nth}`, role: 'assistant', content: text, toolCalls }
    for (const message of [question, answer]) {
      messages.push(JSON.stringify(message))
      written += messages.at(-1)?.length ?? 0
    }
  }
  return `{"id":"${id}","messages":[${messages.join(',')}]}`
}

function writeShort(id: string): string {
  const list = Array.from({ length: messages / 2 }, (_, nth) => [
    { id: `u-${id}-${nth}`, role: 'user', content: `A look at ${nth}.` },
    { id: `a-${id}-${nth}`, role: 'assistant', content: 'What was found, in a few words.' },
  ])
  return JSON.stringify({ id, messages: list.flat() })
}

function writeText(id: string, size: number): string {
  const text = 'words and more words, '.repeat((size * 1_000_000) / 22)
  const question = { id: `u-${id}`, role: 'user', parts: [{ type: 'text', text: 'Say it.' }] }
  const answer = { id: `a-${id}`, role: 'assistant', parts: [{ type: 'text', text }] }
  return JSON.stringify({ id, messages: [question, answer] })
}

function writeResults(id: string, size: number, each: number): string {
  const output = 'x'.repeat(each)
  const parts = Array.from({ length: (size * 1_000_000) / each }, (_, nth) => ({
    type: 'tool-look_up',
    toolCallId: `${id}-${nth}`,
    state: 'output-available',
    input: {},
    output,
  }))
  const question = { id: `u-${id}`, role: 'user', parts: [{ type: 'text', text: 'Look.' }] }
  return JSON.stringify({ id, messages: [question, { id: `a-${id}`, role: 'assistant', parts }] })
}
