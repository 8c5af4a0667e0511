import { writeSync } from 'node:fs'
import { postgres } from 'holdfast/postgres'
import { sqlite } from 'holdfast/sqlite'
import {
  inputsOf,
  openConversation,
  ownerId,
  type Play,
  send,
  threadId,
  upload,
} from './conversation.ts'
import { killAt } from './kill-at.ts'

/**
 * A process in which people say more while a turn runs, and which is killed at one of its writes. It says on its
 * standard output what they were answered; a write to a pipe is done when the call returns, so nothing is unsaid.
 */
const [database = '', play = 'queue', when = 'never', place = '0'] = process.argv.slice(2)
const writeLine = (line: object) => writeSync(1, `${JSON.stringify(line)}\n`)
const opened = database.startsWith('postgres:') ? postgres(database) : sqlite(database)
await opened.createThread({ id: threadId, ownerId, title: '', at: Date.now() })
const { store, fileStore, writes } = killAt(opened, { when, place: Number(place) })

const begun = Promise.withResolvers<void>()
const done = Promise.withResolvers<string>()
const holdfast = openConversation({
  store,
  fileStore,
  execute(signal) {
    begun.resolve()
    signal?.addEventListener('abort', () => done.resolve('aborted'))
    return done.promise
  },
})
const { queues, files } = holdfast

for (const input of inputsOf[play as Play]) {
  const url = input.file === undefined ? undefined : await upload(holdfast, input.file)
  if (url !== undefined) writeLine({ uploaded: input.file, url })
  const { kind } = await send(holdfast, input, url)
  writeLine({ accepted: input.id, kind })
  // Everything else is said while the tool runs.
  await begun.promise
}
if (play === 'queue') {
  await queues.update(threadId, 'u3', { text: 'edited' })
  writeLine({ edited: 'u3' })
  await queues.update(threadId, 'u3', { before: 'u2' })
  writeLine({ moved: 'u3' })
  await queues.withdraw(threadId, 'u4')
  writeLine({ withdrawn: 'u4' })
}
if (play === 'stop') {
  await holdfast.stop(threadId)
  writeLine({ stopped: threadId })
  await queues.release(threadId)
  writeLine({ released: threadId })
}
if (play === 'files') {
  await upload(holdfast, 'unused')
  await files.collect()
}
done.resolve('done')
await holdfast.settled()
writeLine({ writes: writes() })
process.exit(0)
