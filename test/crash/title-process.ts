import { createHoldfast, type Store } from 'holdfast'
import { postgres } from 'holdfast/postgres'
import { sqlite } from 'holdfast/sqlite'
import { scriptedModel } from 'holdfast/testing'

/**
 * A process that answers a first message and is killed on the way to its title: when the model is asked for it, before the
 * store has it, or after and before anybody learns of it.
 */
const [database = '', when = 'asked'] = process.argv.slice(2)
const store = database.startsWith('postgres:') ? postgres(database) : sqlite(database)
const die = () => process.kill(process.pid, 'SIGKILL')

const dying: Store = {
  ...store,
  async commit(planned) {
    const isTitle = planned.some(({ isTitledByModel }) => isTitledByModel)
    if (isTitle && when === 'before') die()
    const results = await store.commit(planned)
    if (isTitle && when === 'after') die()
    return results
  },
}

const holdfast = createHoldfast({
  store: dying,
  model: scriptedModel(() => [{ text: 'Good day.' }]),
  title: {
    model: scriptedModel(() => [{ text: 'Greetings' }], {
      onCall: () => when === 'asked' && die(),
    }),
  },
  leaseMs: 600,
})
await holdfast.send({
  threadId: 'thread',
  message: { id: 'u1', parts: [{ type: 'text', text: 'Hello' }] },
  create: { ownerId: 'owner', title: 'Hello', isPlaceholder: true },
})
await holdfast.settled()
