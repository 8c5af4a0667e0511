import { checkStore, createHoldfast, type Store } from 'holdfast'
import { scriptedModel } from 'holdfast/testing'
import { describe, expect, it } from 'vitest'
import { type DatabaseKind, databases, type RawDatabase } from './databases.ts'

const kinds = Object.keys(databases) as readonly DatabaseKind[]
const threadId = 't'

/** A thread in which a question was edited and an answer made anew, and one in which an input is held. */
async function createHealthy(kind: DatabaseKind): Promise<RawDatabase> {
  const database = await databases[kind]()
  const store = database.openStore()
  const holdfast = createHoldfast({
    store,
    model: scriptedModel(({ index }) =>
      index === 4 ? [{ text: 'long' }, { waitMs: 600_000 }] : [{ text: `answer ${index}` }],
    ),
  })
  const send = async (thread: string, id: string, replaces?: string) => {
    const message = { id, parts: [{ type: 'text', text: id }] as const }
    await holdfast.send({
      threadId: thread,
      message,
      create: { ownerId: 'local', title: '' },
      ...(replaces === undefined ? {} : { replaces }),
    })
  }
  await send(threadId, 'u1')
  await holdfast.settled()
  await send(threadId, 'u2')
  await holdfast.settled()
  await send(threadId, 'edited', 'u2')
  await holdfast.settled()
  await holdfast.regenerate({ threadId })
  await holdfast.settled()
  await send('waits', 'w1')
  await send('waits', 'w2')
  await holdfast.stop('waits')
  await holdfast.close()
  await store.close()
  return database
}

async function withStore<Result>(
  database: RawDatabase,
  use: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = database.openStore()
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}

const damages: readonly (readonly [kind: string, what: string, sql: string])[] = [
  [
    'parent-differs',
    'a hidden message that follows another than its event says',
    `UPDATE messages SET parent_seq = 1 WHERE message_id = 'u2'`,
  ],
  [
    'parent-differs',
    'a hidden message whose parent is not there',
    `UPDATE messages SET parent_seq = 3 WHERE message_id = 'u2'`,
  ],
  [
    'versions-differ',
    'a list that lacks a sibling',
    `UPDATE messages SET versions = NULL WHERE message_id = 'u2'`,
  ],
  [
    'versions-differ',
    'a list that names what is not there',
    `UPDATE messages SET versions = '[{"id":"u2","seq":999},{"id":"gone","seq":5}]' WHERE message_id = 'u2'`,
  ],
  [
    'versions-differ',
    'a list that cannot be read',
    `UPDATE messages SET versions = '[{"id"' WHERE message_id = 'edited'`,
  ],
  [
    'queue-differs',
    'a queue that has lost an input',
    `UPDATE threads SET queue = '[]' WHERE id = 'waits'`,
  ],
  [
    'queue-differs',
    'an input that waits though nothing runs',
    `UPDATE threads SET queue = replace(queue, '"held":true', '"held":false') WHERE id = 'waits'`,
  ],
]

describe.each(kinds)('holdfast check on %s', (kind) => {
  it('[CR6 VR1 IN2] finds nothing in a healthy conversation with versions and a queue', async () => {
    const database = await createHealthy(kind)
    expect((await withStore(database, (store) => checkStore(store))).found).toBe(0)
  })

  it.each(damages)('[CR6 VR1 IN2] finds and mends %s: %s', async (problem, _what, sql) => {
    const database = await createHealthy(kind)
    const before = await withStore(database, readConversation)
    await database.damage(sql)
    await withStore(database, async (store) => {
      const kindsFound: string[] = []
      const onProblem = (found: { readonly kind: string }) => kindsFound.push(found.kind)
      const { found } = await checkStore(store, { repair: true, onProblem })
      expect(found).toBeGreaterThan(0)
      expect(new Set(kindsFound)).toEqual(new Set([problem]))
      expect(await checkStore(store)).toMatchObject({ found: 0 })
      expect(await readConversation(store)).toEqual(before)
    })
  })
})

/** What is shown, what waits, and what would be shown of each version. */
async function readConversation(store: Store) {
  const query = { limit: 50, before: null, live: 'include', results: 'full' } as const
  const page = await store.readPage({ ...query, threadId })
  return {
    messages: page?.messages,
    queue: (await store.readThread('waits'))?.queue,
    path: await store.readPath(threadId, 'u2'),
  }
}
