import { writeSync } from 'node:fs'
import { createHoldfast, type Store } from 'holdfast'
import { postgres } from 'holdfast/postgres'
import { sqlite } from 'holdfast/sqlite'
import { scriptedModel } from 'holdfast/testing'

/**
 * A process that edits, answers anew, goes back and forks, and is killed at one of its commits: before the store has
 * it, or after and before anybody learns of it.
 */
const [database = '', when = 'never', place = '0'] = process.argv.slice(2)
const store = database.startsWith('postgres:') ? postgres(database) : sqlite(database)
const threadId = 'thread'
let commits = 0

const dying: Store = {
  ...store,
  async commit(planned) {
    if (planned.every(({ size }) => size === 0)) return store.commit(planned)
    commits++
    const isLast = commits === Number(place)
    if (isLast && when === 'before') process.kill(process.pid, 'SIGKILL')
    const results = await store.commit(planned)
    if (isLast && when === 'after') process.kill(process.pid, 'SIGKILL')
    return results
  },
}

const holdfast = createHoldfast({
  store: dying,
  model: scriptedModel(({ index }) => [{ text: `answer ${index}` }]),
  leaseMs: 600,
})
await store.createThread({ id: threadId, ownerId: 'owner', title: '', at: Date.now() })
const send = async (id: string, text: string, replaces?: string) => {
  const message = { id, parts: [{ type: 'text', text }] as const }
  const sent = await holdfast.send({
    threadId,
    message,
    ...(replaces === undefined ? {} : { replaces }),
  })
  await holdfast.settled()
  return sent.kind === 'started' ? sent.turnId : ''
}
const first = await send('u1', 'one')
await send('u2', 'two')
await send('u2', 'two, better', 'u2')
await holdfast.regenerate({ threadId, messageId: first })
await holdfast.settled()
await holdfast.show(threadId, first)
await holdfast.show(threadId, 'u2')
await holdfast.threads.fork(threadId, { id: 'fork' })
writeSync(1, JSON.stringify({ commits }))
process.exit(0)
