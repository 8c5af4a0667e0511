import { describe, expect, inject, it } from 'vitest'
import { checkStore } from '../../src/audit/check-store.ts'
import type { Problem } from '../../src/audit/problem.ts'
import { parseOwnerId } from '../../src/core/ids.ts'
import { toVersionId } from '../../src/core/versions.ts'
import { memory } from '../../src/store/memory/index.ts'
import { postgres } from '../../src/store/postgres/index.ts'
import type { Store } from '../../src/store/store.ts'
import { createRandomTree, readShown, textOf } from '../../src/testing/store-rules/random-tree.ts'
import { createThread, thread } from '../../src/testing/store-rules/thread-script.ts'
import { exportFormats, exportQuery, type ExportFormat } from '../../src/transfer/export-threads.ts'
import { readHidden } from '../../src/transfer/export-versions.ts'
import { importThreads } from '../../src/transfer/import-threads.ts'
import { readImport } from '../../src/transfer/read-import.ts'
import { createDatabase } from '../support/create-database.ts'
import { openStore, temporaryFile } from '../sqlite/temporary-file.ts'

async function exported(store: Store, format: ExportFormat): Promise<string> {
  let text = ''
  for await (const piece of exportQuery(store, { threadId: thread, format })) text += piece
  return text
}

async function* inPieces(text: string) {
  for (let from = 0; from < text.length; from += 1_000) yield text.slice(from, from + 1_000)
}

const load = (store: Store, text: string, scratch?: Store) =>
  importThreads(store, readImport(inPieces(text)), {
    ownerId: parseOwnerId('ana'),
    now: () => 1_780_000_000_000,
    ...(scratch === undefined ? {} : { dryRun: { scratch } }),
  })

/** All there is to know of a tree, by the words of its messages: places are of each ledger. */
async function describeTree(store: Store) {
  const shown = await readShown(store)
  const hidden = await Array.fromAsync(readHidden(store, thread))
  const all = [...shown, ...hidden.map(({ message }) => message)]
  const words = new Map(all.map((message) => [message.seq, `${message.id}: ${textOf(message)}`]))
  const nodes = await Promise.all(
    all.map(async (message) => {
      const path = await store.readPath(thread, toVersionId(message.role, message))
      const read = await store.readMessage(thread, message.id)
      return {
        words: words.get(message.seq),
        at: message.createdAt,
        replyTo: message.role === 'assistant' ? message.replyTo : undefined,
        versions: (message.role === 'assistant' ? read : message)?.versions?.map(({ seq }) =>
          words.get(seq),
        ),
        shows: path?.show.map(({ seq }) => words.get(seq)),
        hides: path?.hide.map(({ seq }) => words.get(seq)),
      }
    }),
  )
  return {
    shown: shown.map(({ seq }) => words.get(seq)),
    nodes: nodes.toSorted((left, right) => ((left.words ?? '') < (right.words ?? '') ? -1 : 1)),
  }
}

/** Of a user's message the rows know more than what it was read from. */
const withoutUserVersions = ({ shown, nodes }: Awaited<ReturnType<typeof describeTree>>) => ({
  shown,
  nodes: nodes.map(({ versions, replyTo: _, ...node }) =>
    node.words?.startsWith('turn') ? { ...node, versions } : node,
  ),
})

async function grow(store: Store, seed: number, steps: number) {
  await createThread(store)
  const tree = createRandomTree(store, seed)
  for (let step = 0; step < steps; step++) await tree.grow()
  return tree
}

const stores: Readonly<Record<string, () => Store>> = {
  memory: () => memory(),
  sqlite: () => openStore(temporaryFile()),
}

async function checkRoundTrip(open: () => Store, seed: number, format: ExportFormat) {
  const [source, target] = [memory(), open()]
  await grow(source, seed, 60)
  const text = await exported(source, format)
  const before = withoutUserVersions(await describeTree(source))
  const report = await load(target, text)
  expect(report).toMatchObject({ failed: [], guessed: [], skipped: 0 })
  expect(report.messages).toBe(before.nodes.length)
  expect(withoutUserVersions(await describeTree(target))).toEqual(before)
  // A second time nothing changes, and the export of the copy is an export of the same.
  const thereBy = await target.readThread(thread)
  const again = await load(target, text)
  expect(again).toMatchObject({ failed: [], messages: report.messages, skipped: report.messages })
  expect(await target.readThread(thread)).toEqual(thereBy)
  const third = memory()
  await load(third, await exported(target, format))
  expect(withoutUserVersions(await describeTree(third))).toEqual(before)
  if (target.audit !== undefined) {
    const problems: Problem[] = []
    await checkStore(target, { onProblem: (problem) => problems.push(problem) })
    expect(problems).toEqual([])
  }
  await target.close()
}

describe.each(Object.entries(stores))('versions come back from an export, into %s', (_, open) => {
  it.each(exportFormats)('[VR1] as %s: the same tree, and twice is once', async (format) => {
    for (const seed of [1, 2, 3, 4, 5, 6]) await checkRoundTrip(open, seed, format)
  })
})

it('[VR1] versions come back from an export, into postgres', async () => {
  const database = await createDatabase(inject('postgresUrl'))
  await checkRoundTrip(() => postgres(database.url), 7, 'ui')
  await database.drop()
})

it.each(Array.from({ length: 24 }, (_, nth) => nth + 11))(
  '[VR1 LE8] what has been made since an import comes with the next one (seed %i)',
  async (seed) => {
    const [source, target] = [memory(), memory()]
    const tree = await grow(source, seed, 20)
    await load(target, await exported(source, 'ui'))
    for (let round = 0; round < 4; round++) {
      const known = new Set((await describeTree(source)).nodes.map(({ words }) => words))
      for (let step = 0; step < 5; step++) await tree.grow()
      const now = await describeTree(source)
      const text = await exported(source, 'ui')
      const dry = await load(target, text, memory())
      const report = await load(target, text)
      expect(report.failed).toEqual([])
      expect(dry).toEqual({ dryRun: true, ...report })
      const copy = await describeTree(target)
      const wordsOf = ({ nodes }: typeof now) => nodes.map(({ words }) => words)
      expect(wordsOf(copy)).toEqual(wordsOf(now))
      // Where something new is shown there, what is shown there is shown here.
      if (now.shown.some((words) => !known.has(words))) expect(copy.shown).toEqual(now.shown)
    }
  },
)
