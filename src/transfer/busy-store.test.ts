import { beforeEach, expect, it, vi } from 'vitest'
import { parseOwnerId, parseThreadId } from '../core/ids.ts'
import type { PlannedCommit } from '../store/plan-commit.ts'
import { memory } from '../store/memory/index.ts'
import type { AppendResult, Store } from '../store/store.ts'
import { exportThread } from './export-threads.ts'
import { importThreads } from './import-threads.ts'
import { readImport } from './read-import.ts'

// The pauses between attempts add up to nine seconds.
vi.mock(import('node:timers/promises'), async (original) => ({
  ...(await original()),
  setTimeout: () => Promise.resolve() as never,
}))

const ownerId = parseOwnerId('local')
const messages = [
  { id: 'u', role: 'user', content: 'Hi' },
  { id: 'a', role: 'assistant', content: 'Hello' },
]
const queuedMessages = [
  { id: 'q', mode: 'queue', parts: [{ type: 'text', text: 'Later' }], at: '2024-01-01T00:00:00Z' },
]

async function* textOf(document: unknown): AsyncGenerator<string> {
  yield JSON.stringify(document)
}
const load = (store: Store, document: unknown) =>
  importThreads(store, readImport(textOf(document)), { ownerId })

let commits = 0
beforeEach(() => {
  commits = 0
})

/** Another transaction holds the row of the thread for as long as `isHeld` says; `busy` is the answer then. */
function heldStore(
  isHeld: (commit: PlannedCommit) => boolean,
  busy: AppendResult = { kind: 'busy' },
): Store {
  const store = memory()
  return {
    ...store,
    async commit(group) {
      if (++commits > 1_000) throw new Error('There is no end to the attempts.')
      const free = group.filter((commit) => !isHeld(commit))
      const results = await store.commit(free)
      return group.map((commit) => results[free.indexOf(commit)] ?? busy)
    },
  }
}

/** The first attempt of each commit is stored, but its answer is lost; the commit is recognized when it is passed again. */
function forgetfulStore(): Store {
  const store = memory()
  const stored = new Map<PlannedCommit, AppendResult>()
  const commitOne = async (commit: PlannedCommit): Promise<AppendResult> => {
    const known = stored.get(commit)
    if (known !== undefined) return known
    const [result] = await store.commit([commit])
    if (result?.kind !== 'appended') return result ?? { kind: 'busy' }
    stored.set(commit, result)
    return { kind: 'busy', isInDoubt: true }
  }
  return { ...store, commit: (group) => Promise.all(group.map(commitOne)) }
}

const isHeld = 'It is held by another process. Import it again.'
const isOfThread = (id: string) => (commit: PlannedCommit) => commit.append.threadId === id
const idsIn = async (store: Store, threadId: string) => {
  const page = await store.readPage({ ...pageOf(threadId), limit: 9 })
  return page?.messages.map(({ id }) => id).toSorted()
}

it('[LG1 LE5] a thread whose row never comes free is reported, and the others are imported', async () => {
  const store = heldStore(isOfThread('t'))
  const named = (id: string) => messages.map((message) => ({ ...message, id: id + message.id }))
  const threads = ['s', 't', 'v'].map((id) => ({ id, messages: named(id) }))
  const report = await load(store, { threads })
  expect(report.failed).toEqual([
    { where: 'threads[1], tu', why: isHeld },
    { where: 'threads[1], ta', why: isHeld },
  ])
  expect(await idsIn(store, 's')).toEqual(['sa', 'su'])
  expect(await idsIn(store, 't')).toBeUndefined()
  expect(await idsIn(store, 'v')).toEqual(['va', 'vu'])
  expect(commits).toBeLessThan(110)
})

it('[LG1 LE5] the import ends with an error where it is unknown what was stored', async () => {
  const store = heldStore(isOfThread('t'), { kind: 'busy', isInDoubt: true })
  await expect(load(store, { id: 't', messages })).rejects.toMatchObject({
    ...{ code: 'store-locked', isInDoubt: true, isTemporary: false },
    message: expect.stringContaining('the thread t') as string,
  })
  expect(commits).toBeLessThan(110)
})

it('[LG1 IN5] waiting messages that cannot be stored are reported', async () => {
  const store = heldStore(({ append }) => append.events.some(({ type }) => type === 'input-queued'))
  const report = await load(store, { id: 't', messages, queuedMessages })
  expect(report.failed).toEqual([{ where: 'queuedMessages[0]', why: isHeld }])
  expect(await idsIn(store, 't')).toEqual(['a', 'u'])
  expect(commits).toBeLessThan(110)
})

it('[LG1 LE5 IN5] what was stored without an answer is found, and reported as imported', async () => {
  const store = forgetfulStore()
  const report = await load(store, { id: 't', messages, queuedMessages })
  expect(report).toMatchObject({ messages: 3, skipped: 0, failed: [] })
  expect(await Array.fromAsync(exportThread(store, parseThreadId('t'), 'ui'))).toMatchObject([
    { id: 'u' },
    { id: 'a' },
  ])
  expect(await store.readPage(pageOf('t'))).toMatchObject({ queue: [{ id: 'q' }] })
})

const pageOf = (threadId: string) => ({
  ...{ threadId: parseThreadId(threadId), limit: 1, before: null },
  ...({ live: 'exclude', results: 'none' } as const),
})
