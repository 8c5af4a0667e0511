import { expect, it } from 'vitest'
import type { UserPart } from '../../core/message.ts'
import { memory } from '../../store/memory/memory-store.ts'
import { type ScriptedCall, scriptedModel } from '../../testing/scripted-model.ts'
import { createHoldfast } from '../create-holdfast.ts'

const pixel = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'
const picture: UserPart = {
  ...{ type: 'file', mediaType: 'image/gif', url: pixel },
  filename: 'dot.gif',
}
const text = (words: string): UserPart => ({ type: 'text', text: words })

it('[AG2a] older files that a model does not accept are replaced by a text, and other models are sent them', async () => {
  const calls: Record<string, ScriptedCall[]> = { blind: [], seeing: [] }
  const modelOf = (id: string) =>
    scriptedModel(() => [{ text: 'Yes.' }], { onCall: (call) => calls[id]?.push(call) })
  const holdfast = createHoldfast({
    ...{ store: memory(), recoverEveryMs: 0 },
    model: modelOf('seeing'),
    models: [
      { id: 'seeing', label: 'Seeing', accepts: ['image/*'], model: modelOf('seeing') },
      { id: 'blind', label: 'Blind', accepts: [], model: modelOf('blind') },
    ],
  })
  const sendAndSettle = async (id: string, model: string, parts: readonly UserPart[]) => {
    const create = { ownerId: 'ana' }
    const message = { id, parts }
    const sent = await holdfast.send({ threadId: 't', message, create, choices: { model } })
    expect(sent.kind).toBe('started')
    await holdfast.settled()
  }
  await sendAndSettle('u1', 'seeing', [text('What is this?'), picture])
  await sendAndSettle('u2', 'blind', [text('And now?')])
  await sendAndSettle('u3', 'seeing', [text('Again?')])
  const sentTo = (id: string) => JSON.stringify(calls[id]?.at(-1))
  expect(sentTo('blind')).toContain('[dot.gif (image/gif) cannot be shown to this model]')
  expect(sentTo('blind')).not.toContain('"type":"file"')
  expect(sentTo('seeing')).toContain('"type":"file"')
  expect(sentTo('seeing')).not.toContain('cannot be shown')
  await expect(sendAndSettle('u4', 'blind', [text('This?'), picture])).rejects.toMatchObject({
    code: 'file-not-accepted',
  })
  await holdfast.close()
})
