import assert from 'node:assert/strict'
import { parseMessageId, parseThreadId } from '../../core/ids.ts'
import type { ThreadPlace } from '../../core/thread-place.ts'
import { placeAfter } from '../../protocol/place-text.ts'
import { isOtherHistory } from '../../store/place-evidence.ts'
import type { Store } from '../../store/store.ts'
import type { StoreRule } from './store-rule.ts'
import { append, createThread, ended, say, started, text, thread, turn } from './thread-script.ts'

/** The places of a reader of all changes after each of them, and of a reader of a page. */
async function readPlaces(store: Store): Promise<readonly ThreadPlace[]> {
  const query = { threadId: thread, results: 'full' } as const
  const read = await store.readChanges({ ...query, after: 0, limit: 1_000 })
  const page = await store.readPage({ ...query, limit: 1, before: null, live: 'include' })
  assert.ok(page?.place !== undefined && read !== null)
  const places = read.changes.map((change) => placeAfter(change, read.incarnation ?? ''))
  return [...places, page.place]
}

async function isOther(store: Store, place: ThreadPlace): Promise<boolean> {
  const found = await store.readPlace?.(thread, place.seq)
  assert.ok(found != null, 'a place of a thread that is there')
  return isOtherHistory(place, found)
}

async function areOther(store: Store, places: readonly ThreadPlace[]): Promise<readonly boolean[]> {
  const found: boolean[] = []
  for (const place of places) found.push(await isOther(store, place))
  return found
}

const all = (places: readonly ThreadPlace[], value: boolean) => places.map(() => value)

const second = parseMessageId('second')

/** For stores with `readPlace`; a store without it accepts every place. */
export const historyRules: readonly StoreRule[] = [
  {
    id: 'OP6',
    claim: 'accepts every place that it returned, while a turn runs and after it has ended',
    async check({ open, reopen }) {
      const first = await open()
      if (first.readPlace === undefined) return
      await createThread(first)
      const begin = await readPlaces(first)
      await append(first, [say('Hi'), started()])
      for (const event of [...text('One'), ...text('Two')]) await append(first, [event])
      const running = await readPlaces(first)
      const store = await reopen(first)
      assert.deepEqual(
        await areOther(store, [...begin, ...running]),
        all([...begin, ...running], false),
      )
      await append(store, [ended()])
      await append(store, [say('And?', second)])
      const places = [...begin, ...running, ...(await readPlaces(store))]
      assert.deepEqual(await areOther(store, places), all(places, false))
      assert.equal(await store.readPlace?.('other', 1), null)
    },
  },
  {
    id: 'OP6',
    claim: 'distinguishes a thread that was made again from the one before, whatever its seq',
    async check({ open }) {
      const store = await open()
      if (store.readPlace === undefined) return
      await createThread(store)
      const empty = await readPlaces(store)
      await append(store, [say('Hi'), started(), ...text('One'), ended()])
      const places = [...empty, ...(await readPlaces(store))]
      await store.deleteThread(thread)
      await createThread(store)
      assert.deepEqual(await areOther(store, places), all(places, true))
      await append(store, [say('Hi'), started(), ...text('One'), ended()])
      await append(store, [
        say('And?', second),
        say('More?', parseMessageId('third')),
        say('Still more?', parseMessageId('fourth')),
      ])
      assert.deepEqual(await areOther(store, places), all(places, true))
    },
  },
  {
    id: 'OP6',
    claim: 'returns the same incarnation with a page, changes, a turn and a seq',
    async check({ open }) {
      const store = await open()
      if (store.readPlace === undefined) return
      await createThread(store)
      const read = async () => {
        await append(store, [say('Hi'), started()])
        const incarnation = (await store.findTurn(turn))?.incarnation
        assert.ok(incarnation !== undefined)
        for (const place of await readPlaces(store)) assert.equal(place.incarnation, incarnation)
        const seqs = await store.readSeqs?.([thread, parseThreadId('nowhere')])
        if (seqs !== undefined) assert.deepEqual([...seqs], [[thread, { seq: 2, incarnation }]])
        return incarnation
      }
      const before = await read()
      await store.deleteThread(thread)
      await createThread(store)
      assert.notEqual(await read(), before)
    },
  },
  {
    id: 'OP6',
    claim: 'distinguishes a commit from another one with the same seqs, as after a restore',
    async check({ open }) {
      const store = await open()
      if (store.readPlace === undefined) return
      await createThread(store)
      await append(store, [say('Hi'), started()])
      for (const event of text('One')) await append(store, [event])
      const lost = (places: readonly ThreadPlace[]) =>
        places.map((place) => ({ ...place, mark: 'another', subject: 'another' }))
      const running = await readPlaces(store)
      assert.deepEqual(await areOther(store, lost(running)), all(running, true))
      const [beyond] = running
      assert.ok(beyond !== undefined)
      assert.equal(await isOther(store, { ...beyond, seq: 1_000 }), true)
      await append(store, [ended()])
      await append(store, [say('And?', second)])
      const later = [...running, ...(await readPlaces(store))]
      assert.deepEqual(await areOther(store, lost(later)), all(later, true))
      // Unknown fields are not compared: places of an older version, and bare seqs.
      const bare = later.map(({ seq }) => ({ seq, incarnation: '', mark: '', subject: '' }))
      assert.deepEqual(await areOther(store, bare), all(bare, false))
    },
  },
]
