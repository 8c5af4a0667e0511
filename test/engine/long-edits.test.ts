import { createHoldfast, type Holdfast, importThreads, readImport, type Store } from 'holdfast'
import { scriptedModel } from 'holdfast/testing'
import { expect, it, onTestFinished } from 'vitest'
import { openStore, temporaryFile } from '../sqlite/temporary-file.ts'

const turns = 800

/** Longer than an edit may be without waiting for others. */
async function openLong(changed: (store: Store) => Store = (store) => store): Promise<Holdfast> {
  const store = openStore(temporaryFile())
  const messages = Array.from({ length: turns }, (_, nth) => [
    { id: `u-${nth}`, role: 'user', content: `Look at ${nth}.` },
    { id: `a-${nth}`, role: 'assistant', content: 'Found.' },
  ]).flat()
  async function* source() {
    yield JSON.stringify({ id: 'long', messages })
  }
  const report = await importThreads(store, readImport(source()), { ownerId: 'ann' })
  expect(report.failed).toEqual([])
  const model = scriptedModel(() => [{ text: 'Anew.' }])
  const holdfast = createHoldfast({ store: changed(store), model, recoverEveryMs: 0 })
  onTestFinished(() => holdfast.close())
  return holdfast
}

const shownIn = async (holdfast: Holdfast): Promise<readonly string[]> => {
  const query = { before: null, limit: 5, live: 'include', results: 'lazy' } as const
  const page = await holdfast.store.readPage({ threadId: 'long', order: 'oldest-first', ...query })
  return page?.messages.map(({ id }) => id) ?? []
}

it('[OP7 VR1 VR2] many edits and switches at the beginning of a long thread, all at once, each end', async () => {
  const holdfast = await openLong()
  const edit = (nth: number) =>
    holdfast.send({
      threadId: 'long',
      message: { id: `edit-${nth}`, parts: [{ type: 'text', text: `Edit ${nth}.` }] },
      replaces: 'u-0',
    })
  const edits = await Promise.allSettled(Array.from({ length: 6 }, (_, nth) => edit(nth)))
  await holdfast.settled()
  const kinds = edits.map((one) =>
    one.status === 'fulfilled' ? one.value.kind : String(one.reason),
  )
  // Each of the others finds that an answer runs, or that what it replaces is no longer shown.
  expect(kinds.filter((kind) => kind === 'started')).toHaveLength(1)
  const winner = kinds.indexOf('started')
  expect((await shownIn(holdfast))[0]).toBe(`edit-${winner}`)

  const shown = await Promise.all(
    Array.from({ length: 6 }, (_, nth) =>
      holdfast.show('long', nth % 2 === 0 ? 'u-0' : `edit-${winner}`),
    ),
  )
  expect(shown.map(({ kind }) => kind)).toEqual(Array.from({ length: 6 }, () => 'shown'))
  await holdfast.show('long', 'u-0')
  expect(await shownIn(holdfast)).toEqual(['u-0', 'a-0', 'u-1', 'a-1', 'u-2'])

  const again = await holdfast.regenerate({ threadId: 'long', messageId: 'u-0' })
  await holdfast.settled()
  expect(again.kind).toBe('started')
  expect(await shownIn(holdfast)).toEqual(['u-0', again.kind === 'started' ? again.turnId : ''])
})

it('[OP7] a long thread is not read for an answer that it does not have', async () => {
  let pages = 0
  const holdfast = await openLong((store) => ({
    ...store,
    readPage(query) {
      pages++
      return store.readPage(query)
    },
  }))
  const unknown = holdfast.regenerate({ threadId: 'long', messageId: 'nobody' })
  await expect(unknown).rejects.toMatchObject({ code: 'message-not-found' })
  expect(pages).toBe(1)
})
