import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { parseOwnerId, parseThreadId } from '../core/ids.ts'
import { sqlite } from '../store/sqlite/index.ts'
import type { Store } from '../store/store.ts'
import { importThreads } from './import-threads.ts'
import { readImport } from './read-import.ts'
import { createPacer } from '../store/pacer.ts'
import { readAll } from './read-stored-thread.ts'
import { turnsDuring } from '../../test/support/turns-during.ts'

const count = 2_500
const ownerId = parseOwnerId('me')

async function* messages(from: number): AsyncGenerator<string> {
  const list = Array.from({ length: count - from }, (_, nth) => ({
    ...{ id: `m${nth + from}`, role: 'user', content: 'x' },
    createdAt: new Date(1_700_000_000_000 + (nth + from) * 1_000).toISOString(),
  }))
  yield JSON.stringify({ id: 't', messages: list })
}

it('[OP7b] a long thread that an import writes anew leaves others their turn, and is the same afterwards', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-rewrite-'))
  const inner = sqlite(join(folder, 'chat.db'))
  onTestFinished(async () => {
    await inner.close()
    rmSync(folder, { recursive: true })
  })
  let turns = 0
  const store: Store = {
    ...inner,
    async rewriteThread(rewrite) {
      const rewritten = await turnsDuring(async () => inner.rewriteThread?.(rewrite))
      turns += rewritten.turns
      return rewritten.result ?? 'stale'
    },
  }
  const load = (from: number) => importThreads(store, readImport(messages(from)), { ownerId })
  await load(1)
  // Older than all that is stored, so that everything is written again behind it.
  expect(await load(0)).toMatchObject({ messages: count, skipped: count - 1, failed: [] })
  expect(turns).toBeGreaterThan(0)
  const stored = await readAll(store, parseThreadId('t'), createPacer())
  expect(stored.messages.map(({ id }) => id)).toEqual(
    Array.from({ length: count }, (_, nth) => `m${nth}`),
  )
})
