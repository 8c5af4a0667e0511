import { createHoldfast, memory } from 'holdfast'
import { scriptedModel } from 'holdfast/testing'
import { expect, it, onTestFinished } from 'vitest'
import { countVerbs } from '../server/count-verbs.ts'

const parts = [{ type: 'text', text: 'Hi.' }] as const
const create = { ownerId: 'ana' }

it('[OP5a] a message that is posted is looked for only where it may be stored already', async () => {
  const { store, drain } = countVerbs(memory())
  const holdfast = createHoldfast({ store, model: scriptedModel(() => []), recoverEveryMs: 0 })
  onTestFinished(() => holdfast.close())
  const post = async (message: { readonly id?: string; readonly role: 'user' | 'assistant' }) => {
    drain()
    await holdfast.post('t', { ...message, parts }, { create })
    return drain().filter((verb) => !verb.startsWith('commit'))
  }
  expect({
    'the first of a thread': await post({ id: 'first', role: 'user' }),
    'one with an id': await post({ id: 'second', role: 'user' }),
    'the newest, again': await post({ id: 'second', role: 'user' }),
    'an older one, again': await post({ id: 'first', role: 'user' }),
    'one without an id': await post({ role: 'user' }),
    'an answer with an id': await post({ id: 'answer', role: 'assistant' }),
    'the newest answer, again': await post({ id: 'answer', role: 'assistant' }),
    'an answer without an id': await post({ role: 'assistant' }),
  }).toEqual({
    'the first of a thread': ['readPage'],
    'one with an id': ['readPage', 'readMessage', 'findInput'],
    'the newest, again': ['readPage'],
    'an older one, again': ['readPage', 'readMessage'],
    'one without an id': ['readPage'],
    'an answer with an id': ['readPage', 'findTurn', 'readMessage', 'findInput'],
    'the newest answer, again': ['readPage'],
    'an answer without an id': ['readPage'],
  })
})
