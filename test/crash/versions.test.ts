import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkStore, createHoldfast, type Holdfast, type Message, type Store } from 'holdfast'
import { postgres } from 'holdfast/postgres'
import { sqlite } from 'holdfast/sqlite'
import { scriptedModel } from 'holdfast/testing'
import { describe, expect, inject, it } from 'vitest'
import { createDatabase } from '../support/create-database.ts'
import { programArguments } from '../support/programs.ts'

interface TestDatabase {
  readonly database: string
  readonly open: () => Store
  readonly drop: () => Promise<void>
}

async function createTestDatabase(kind: 'sqlite' | 'postgres'): Promise<TestDatabase> {
  if (kind === 'postgres') {
    const made = await createDatabase(inject('postgresUrl'))
    return { database: made.url, open: () => postgres(made.url), drop: () => made.drop() }
  }
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-versions-'))
  const database = join(folder, 'chat.db')
  const drop = async () => rmSync(folder, { recursive: true })
  return { database, open: () => sqlite(database), drop }
}

/** How many commits it made, if it came to its end. */
function runProcess(database: string, when: string, place: number): Promise<number | null> {
  const args = [
    ...programArguments('test/crash/versions-process.ts'),
    ...[database, when, String(place)],
  ]
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, (error, stdout, stderr) => {
      const signal = (error as { signal?: string } | null)?.signal ?? null
      if (error !== null && signal === null) reject(new Error(stderr))
      else resolve(signal === null ? (JSON.parse(stdout) as { commits: number }).commits : null)
    })
  })
}

const textOf = (message: Message): string =>
  message.role === 'assistant'
    ? 'answer'
    : message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')

/** Whatever was stored, each of these is a thread that a person could have been shown. */
const shownThreads = [
  '',
  'one answer',
  'one answer two answer',
  'one answer two, better answer',
] as const

async function readWords(store: Store, threadId: string): Promise<string | null> {
  const query = { threadId, limit: 100, before: null, live: 'include', results: 'full' } as const
  const page = await store.readPage(query)
  return page === null ? null : page.messages.toReversed().map(textOf).join(' ')
}

/** Whatever ran when the process died is carried on by this one. */
async function untilNothingRuns(holdfast: Holdfast, store: Store): Promise<void> {
  const stop = new AbortController()
  const query = { threadId: 'thread', limit: 1, before: null, live: 'include' } as const
  for await (const _ of holdfast.subscribe('thread', 0, stop.signal)) {
    const last = (await store.readPage({ ...query, results: 'full' }))?.messages[0]
    if (last?.role === 'assistant' && last.progress.status === 'ended') break
  }
  stop.abort()
  await holdfast.settled()
}

describe.each(['sqlite', 'postgres'] as const)('killed at every commit on %s', (kind) => {
  it(
    '[VR2 VR4 CR1] a switch and a fork are there as a whole or not at all',
    { timeout: 280_000 },
    async () => {
      const whole = await createTestDatabase(kind)
      const commits = (await runProcess(whole.database, 'never', 0)) ?? 0
      await whole.drop()
      expect(commits).toBeGreaterThan(8)
      // The turns before are the matter of the other test: here it is the last commits that count.
      for (const when of ['before', 'after'] as const) {
        for (let place = commits - 5; place <= commits; place++) {
          const setup = await createTestDatabase(kind)
          expect(await runProcess(setup.database, when, place)).toBeNull()
          const store = setup.open()
          const holdfast = createHoldfast({
            store,
            model: scriptedModel(() => [{ text: 'late' }]),
            recoverEveryMs: 50,
            leaseMs: 600,
          })
          await untilNothingRuns(holdfast, store)
          expect(shownThreads).toContain(await readWords(store, 'thread'))
          expect([null, 'one answer two, better answer', 'one answer two answer']).toContain(
            await readWords(store, 'fork'),
          )
          // Everything that was ever said can be shown, whatever the process had come to.
          const shown = await holdfast.show('thread', 'u2')
          expect(shown.kind).toBe('shown')
          expect(await readWords(store, 'thread')).toMatch(/^one answer two(, better)? answer$/)
          expect((await checkStore(store)).found).toBe(0)
          await holdfast.close()
          await store.close()
          await setup.drop()
        }
      }
    },
  )
})
