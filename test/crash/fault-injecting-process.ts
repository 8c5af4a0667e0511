import { writeSync } from 'node:fs'
import { foldThread, type Store, type ThreadView } from 'holdfast'
import { postgres } from 'holdfast/postgres'
import { sqlite } from 'holdfast/sqlite'
import {
  sendText,
  openScenario,
  ownerId,
  patientLimits,
  playPeople,
  question,
  threadId,
} from './scenario.ts'

/**
 * A process that plays the scenario and is killed, really killed, at one of its commits: before the
 * store has it, or after and before anybody learns of it. It says on its standard output what a
 * follower had been shown; a write to a pipe is done when the call returns, so nothing shown is unsaid.
 */
const [database = '', effects = '', when = 'never', place = '0'] = process.argv.slice(2)
const store = database.startsWith('postgres:')
  ? postgres(database, patientLimits)
  : sqlite(database)
let commits = 0

const faultInjecting: Store = {
  ...store,
  async commit(planned) {
    // A heartbeat is a commit like any other, but when it comes is not part of the scenario.
    if (planned.every(({ size }) => size === 0)) return store.commit(planned)
    commits++
    const isLast = commits === Number(place)
    if (isLast && when === 'before') process.kill(process.pid, 'SIGKILL')
    const results = await store.commit(planned)
    if (isLast && when === 'after') process.kill(process.pid, 'SIGKILL')
    return results
  },
}

await store.createThread({ id: threadId, ownerId, title: '', at: Date.now() })
const holdfast = openScenario(faultInjecting, effects)
void follow()
await sendText(holdfast, question, 'u1')
await holdfast.settled()
while (true) {
  const turn = await lastTurn()
  if (turn?.progress.status !== 'waiting') break
  await playPeople(holdfast, turn)
  await holdfast.settled()
}
writeSync(1, `${JSON.stringify({ commits })}\n`)
process.exit(0)

async function lastTurn() {
  const query = { threadId, limit: 1, before: null, live: 'include', results: 'full' } as const
  const last = (await store.readPage(query))?.messages[0]
  return last?.role === 'assistant' ? last : null
}

async function follow(): Promise<void> {
  let view: ThreadView = { seq: 0, messages: [] }
  for await (const frame of holdfast.subscribe(threadId, 0)) {
    view = foldThread(view, frame.changes)
    writeSync(1, `${JSON.stringify({ shown: view.messages })}\n`)
  }
}
