import { tool } from 'ai'
import { checkStore, createHoldfast, type Problem } from 'holdfast'
import { scriptedModel } from 'holdfast/testing'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { type DatabaseKind, databases } from './databases.ts'

const kinds = Object.keys(databases) as readonly DatabaseKind[]

/** Files that a message, a result, the text of an answer and a queued input name, each as its own, and one that none does. */
async function writeFiles(kind: DatabaseKind) {
  const database = await databases[kind]()
  const store = database.openStore()
  const files: string[] = []
  const urlOf = (nth: number) => `/api/files/${files[nth]}`
  const holdfast = createHoldfast({
    store,
    model: scriptedModel(({ index }) => {
      if (index === 0) return [{ call: 'draw', input: { from: urlOf(1) } }]
      return index === 1 ? [{ text: `See ${urlOf(4)}` }] : [{ text: 'long' }, { waitMs: 600_000 }]
    }),
    tools: {
      draw: tool({
        inputSchema: z.object({ from: z.string() }),
        execute: () => [{ at: urlOf(2) }],
      }),
    },
    recoverEveryMs: 0,
  })
  for (const content of ['sent', 'input', 'result', 'queued', 'only in words']) {
    const bytes = new TextEncoder().encode(content)
    files.push((await holdfast.files.add({ ownerId: 'ana', content: bytes })).id)
  }
  const foreign = await holdfast.files.add({
    ownerId: 'bob',
    content: new TextEncoder().encode('of another'),
  })
  const file = (id: string | undefined) =>
    ({ type: 'file', mediaType: 'text/plain', url: `/api/files/${id}` }) as const
  const create = { ownerId: 'ana', title: '' }
  await holdfast.send({ threadId: 't', message: { id: 'u1', parts: [file(files[0])] }, create })
  await holdfast.settled()
  await holdfast.send({ threadId: 'q', message: { id: 'q1', parts: [file(files[0])] }, create })
  await holdfast.send({ threadId: 'q', message: { id: 'q2', parts: [file(files[3])] }, create })
  await holdfast.stop('q')
  await holdfast.settled()
  await holdfast.close()
  return { database, store, files, foreign: foreign.id }
}

const named = (problems: readonly Problem[]) =>
  new Set(problems.map(({ kind, threadId, fileId }) => `${kind} ${threadId} ${fileId}`))

it.each(kinds)(
  '[CR6 FL2] check finds files whose use is not recorded, and uses that nothing names, and mends both: %s',
  async (kind) => {
    const { database, store, files, foreign } = await writeFiles(kind)
    const problems: Problem[] = []
    const check = async (repair: boolean) => {
      problems.length = 0
      return checkStore(store, { repair, onProblem: (problem) => problems.push(problem) })
    }
    expect([await check(false), problems]).toMatchObject([{ found: 0 }, []])

    const thread = kind === 'sqlite' ? 'thread' : 'thread_id'
    const key = kind === 'sqlite' ? `(SELECT thread FROM threads WHERE id = 't')` : `'t'`
    await database.damage(`DELETE FROM file_uses; UPDATE files SET is_used = ${kind === 'sqlite' ? 0 : 'false'};
      INSERT INTO file_uses (${thread}, file_id) VALUES (${key}, '${files[4]}'), (${key}, '${foreign}')`)
    const damage = [
      ...[0, 3].map((nth) => `missing-file-use q ${files[nth]}`),
      ...[0, 1, 2].map((nth) => `missing-file-use t ${files[nth]}`),
      ...[files[4], foreign].map((id) => `unnamed-file-use t ${id}`),
    ]
    await check(false)
    expect(named(problems)).toEqual(new Set(damage))
    expect(await check(true)).toMatchObject({ found: 7, mended: 7 })
    expect(await check(false)).toMatchObject({ found: 0 })
    const unused = await store.files?.claimUnused({ before: Number.MAX_SAFE_INTEGER, limit: 9 })
    expect(new Set(unused)).toEqual(new Set([files[4], foreign]))
    await store.close()
  },
)
