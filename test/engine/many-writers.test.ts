import { createHoldfast } from 'holdfast'
import { sqlite } from 'holdfast/sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { temporaryFile } from '../sqlite/temporary-file.ts'

/** More than the hundred attempts after which a writer gives up: without their line, the last ones do. */
const writers = Array.from({ length: 400 }, (_, nth) => `m-${nth}`)

it('[LG1 OP7] hundreds of writers of one thread are stored, each once, and none fails because it changed too often', async () => {
  const store = sqlite(temporaryFile())
  const holdfast = createHoldfast({ store, recoverEveryMs: 0 })
  onTestFinished(async () => {
    await holdfast.close()
    await store.close()
  })
  await holdfast.threads.create({ id: 'thread', ownerId: 'ann' })
  const results = await Promise.allSettled(
    writers.map((id) =>
      holdfast.post('thread', { id, role: 'user', parts: [{ type: 'text', text: id }] }),
    ),
  )
  expect(results.filter(({ status }) => status === 'rejected')).toEqual([])
  const page = await store.readPage({
    ...{ threadId: 'thread', limit: 1_000, before: null, live: 'include', results: 'full' },
  })
  expect(page?.seq).toBe(writers.length)
  expect(new Set(page?.messages.map(({ id }) => id))).toEqual(new Set(writers))
})
