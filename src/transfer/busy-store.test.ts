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

/** Another transaction holds the row of the thread for as long as `isHeld` says. */
function heldStore(isHeld: (commit: PlannedCommit) => boolean): Store {
  const store = memory()
  return {
    ...store,
    async commit(group) {
      if (++commits > 1_000) throw new Error('There is no end to the attempts.')
      const free = group.filter((commit) => !isHeld(commit))
      const results = await store.commit(free)
      return group.map((commit) => results[free.indexOf(commit)] ?? ({ kind: 'busy' } as const))
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

const held = { code: 'store-locked', message: expect.stringContaining('the thread t') as string }

it('[LG1 LE5] an import into a thread whose row never comes free ends with an error', async () => {
  const store = heldStore(() => true)
  await expect(load(store, { id: 't', messages })).rejects.toMatchObject(held)
  expect(commits).toBeLessThan(110)
})

it('[LG1 IN5] and so does one whose waiting messages cannot be stored', async () => {
  const store = heldStore(({ append }) => append.events.some(({ type }) => type === 'input-queued'))
  await expect(load(store, { id: 't', messages, queuedMessages })).rejects.toMatchObject(held)
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
