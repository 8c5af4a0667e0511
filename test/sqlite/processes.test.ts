import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, it, onTestFinished } from 'vitest'
import { parseMessageId, parseOwnerId, parseThreadId } from '../../src/core/ids.ts'
import { appendEvents } from '../../src/testing/store-rules/append-events.ts'
import type { Appended } from '../../src/testing/store-rules/thread-script.ts'
import { watchStore } from '../../src/testing/store-rules/watch-store.ts'
import { openStore, temporaryFile } from './temporary-file.ts'

const threadId = parseThreadId('thread')
const turnId = parseMessageId('turn')
const ownerId = parseOwnerId('ana')
const at = 1

interface Worker {
  readonly pid: number
  begin(): Promise<readonly Appended[]>
  kill(): Promise<void>
}

async function startWorker(file: string, name: string, count: number): Promise<Worker> {
  const script = join(import.meta.dirname, '../support/append-worker.ts')
  const child = spawn(process.execPath, [script, file, name, threadId, String(count)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const readLine = async () => String((await lines.next()).value)
  expect(await readLine()).toBe('ready')
  return {
    pid: child.pid!,
    async begin() {
      child.stdin.write('go\n')
      return JSON.parse(await readLine()) as readonly Appended[]
    },
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

it('[LG1] two processes append to one thread without a gap, a tie or a loss', async () => {
  const file = temporaryFile()
  const count = 60
  // Both make the file at the same time, too.
  const workers = await Promise.all([startWorker(file, 'a', count), startWorker(file, 'b', count)])
  const store = openStore(file)
  await store.createThread({ id: threadId, ownerId, title: '', at })
  const [left = [], right = []] = await Promise.all(workers.map((worker) => worker.begin()))

  const given = [...left, ...right].map((result) => result.seq)
  const numbers = Array.from({ length: 2 * count }, (_, index) => index + 1)
  expect(given.toSorted((one, other) => one - other)).toEqual(numbers)
  const page = await store.readPage({
    threadId,
    limit: 200,
    before: null,
    live: 'include',
    results: 'full',
  })
  expect(page?.seq).toBe(2 * count)
  const stored = new Map(page?.messages.map((message) => [message.seq, message.id]))
  const expected = [left, right].flatMap((results, side) =>
    results.map((result, number) => [result.seq, `${'ab'[side]}-${number}`] as const),
  )
  expect(stored).toEqual(new Map(expected.toSorted(([one], [other]) => other - one)))
})

it('[RS2] notifications at what another process has committed', async () => {
  const file = temporaryFile()
  const store = openStore(file, { pollMs: 1 })
  await store.createThread({ id: threadId, ownerId, title: '', at })
  const { until, stop } = watchStore(store)
  onTestFinished(stop)
  const worker = await startWorker(file, 'a', 3)
  await worker.begin()
  const notification = await until((one) => one.seq === 3)
  expect(notification).toEqual({ threadId, seq: 3 })
})

it('[ST1] notifications at a stop that another process asks for, and at a thread that it deletes', async () => {
  const file = temporaryFile()
  const store = openStore(file, { pollMs: 1 })
  const other = openStore(file)
  await store.createThread({ id: threadId, ownerId, title: '', at })
  const lease = { kind: 'acquire', holder: 'one', turnId, ttlMs: 60_000 } as const
  const events = [{ type: 'turn-started', turnId, at, replyTo: null }] as const
  await appendEvents(store, { threadId, events, lease })
  const { until, stop } = watchStore(store)
  onTestFinished(stop)
  await other.requestStop(threadId)
  expect(await until((notification) => notification.stop === true)).toEqual({
    threadId,
    seq: 1,
    stop: true,
  })
  // All before the next look: were the numbers of the deleted thread given again, nothing would show.
  const next = parseThreadId('next')
  await other.deleteThread(threadId)
  await other.createThread({ id: next, ownerId, title: '', at })
  await appendEvents(other, { threadId: next, events })
  expect(await until((notification) => notification.seq === 0)).toEqual({ threadId: null, seq: 0 })
  expect(await until((notification) => notification.threadId === next)).toEqual({
    threadId: next,
    seq: 1,
  })
})

it('[CR2] takes a run over at once from a process that is dead, not from one that lives', async () => {
  const file = temporaryFile()
  const store = openStore(file)
  await store.createThread({ id: threadId, ownerId, title: '', at })
  const worker = await startWorker(file, 'a', 0)
  const acquire = (holder: string) =>
    appendEvents(store, {
      threadId,
      events: [],
      lease: { kind: 'acquire', holder, turnId, ttlMs: 60_000 },
    })
  const holder = `pid:${worker.pid}::nonce`
  await acquire(holder)
  expect(await acquire('two')).toMatchObject({ kind: 'leased', holder })
  expect(await store.findAbandonedRuns(10)).toEqual([])
  await worker.kill()
  expect(await store.findAbandonedRuns(10)).toMatchObject([{ threadId, turnId, holder }])
  expect(await acquire('two')).toMatchObject({ kind: 'appended' })
})
