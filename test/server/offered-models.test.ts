import { tool } from 'ai'
import {
  createHoldfast,
  type Holdfast,
  type HoldfastOptions,
  memory,
  parseMessageId,
  parseOwnerId,
  parseThreadId,
  type Turn,
  type UserPart,
} from 'holdfast'
import { createHandler } from 'holdfast/server'
import { scriptedModel } from 'holdfast/testing'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

const thread = '01927c36-6a29-7c5e-9c1e-2f4b8a3d5e6f'

const fast = { id: 'fast', label: 'Fast', model: scriptedModel(() => [{ text: 'Fast.' }]) }
const best = {
  id: 'best',
  label: 'Best',
  description: 'Takes its time.',
  accepts: ['image/*', 'application/pdf'],
  model: scriptedModel(() => [{ text: 'Best.' }]),
}

interface Chat {
  readonly holdfast: Holdfast
  readonly get: (path: string, owner?: string) => Promise<{ status: number; body: unknown }>
  readonly post: (body: object, owner?: string) => Promise<Response>
  readonly last: () => Promise<Turn>
}

function openChat(options: Partial<HoldfastOptions> = { models: [fast, best] }): Chat {
  const holdfast = createHoldfast({ store: memory(), recoverEveryMs: 0, ...options })
  const handler = createHandler(holdfast, {
    authenticate: (request) => ({ id: request.headers.get('x-owner') ?? 'ann' }),
  })
  const at = (path: string) => `http://127.0.0.1/api/${path}`
  return {
    holdfast,
    async get(path, owner = 'ann') {
      const response = await handler(new Request(at(path), { headers: { 'x-owner': owner } }))
      return { status: response.status, body: await response.json() }
    },
    async post(body, owner = 'ann') {
      const response = await handler(
        new Request(at('chat'), {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-owner': owner },
          body: JSON.stringify({ id: thread, ...body }),
        }),
      )
      await holdfast.settled()
      return response
    },
    async last() {
      const page = await holdfast.store.readPage({
        threadId: parseThreadId(thread),
        limit: 1,
        before: null,
        live: 'include',
        results: 'full',
      })
      const [turn] = page?.messages ?? []
      if (turn?.role !== 'assistant') throw new Error('The last message is no answer.')
      return turn
    },
  }
}

const user = (id: string, ...files: object[]) => ({
  messages: [{ id, role: 'user', parts: [{ type: 'text', text: 'hi' }, ...files] }],
})
const file = (mediaType: string, filename = 'a') => ({
  type: 'file',
  mediaType,
  url: 'data:;base64,AA==',
  filename,
})
const textOf = ({ steps }: Turn) =>
  steps.flatMap(({ parts }) => parts).find((part) => part.type === 'text')

describe('models that are offered', () => {
  it('[AG2a] are listed with what they can do, never as what they are, and with what can be chosen', async () => {
    const { get, holdfast } = openChat()
    const described = {
      models: [
        { id: 'fast', label: 'Fast' },
        {
          id: 'best',
          label: 'Best',
          description: 'Takes its time.',
          accepts: ['image/*', 'application/pdf'],
        },
      ],
      choices: {
        type: 'object',
        properties: { model: { type: 'string', enum: ['fast', 'best'], default: 'fast' } },
        additionalProperties: false,
      },
    }
    const asked = { person: 'ann', sharing: false }
    expect(await get('agent')).toEqual({ status: 200, body: { ...described, ...asked } })
    expect(await holdfast.describeAgent({ ownerId: 'ann' })).toEqual(described)
    const none = openChat({ model: fast.model })
    expect((await none.get('agent')).body).toEqual({
      models: [],
      choices: null,
      ...asked,
    })
  })

  it('[AG2a] the schema of choices is returned as JSON Schema; one that cannot be written as such says nothing', async () => {
    const choices = z.object({ model: z.string().default('best'), web: z.boolean().optional() })
    const { get } = openChat({ models: [fast, best], choices })
    expect((await get('agent')).body).toMatchObject({
      choices: { properties: { model: { default: 'best' }, web: { type: 'boolean' } } },
    })
    const odd = openChat({ model: fast.model, choices: z.custom(() => true).transform(() => 1) })
    expect((await odd.get('agent')).status).toBe(200)
  })

  it('[AG2a] the one that was picked answers; without a pick the first, and nothing is stored of it', async () => {
    const { post, last } = openChat()
    await post(user('u1'))
    expect([(await last()).choices, textOf(await last())]).toMatchObject([
      undefined,
      { text: 'Fast.' },
    ])
    await post({ ...user('u2'), choices: { model: 'best' } })
    expect([(await last()).choices, textOf(await last())]).toMatchObject([
      { model: 'best' },
      { text: 'Best.' },
    ])
    await post({ trigger: 'regenerate-message' })
    expect(textOf(await last())).toMatchObject({ text: 'Best.' })
    await post({ trigger: 'regenerate-message', choices: { model: 'fast' } })
    expect(textOf(await last())).toMatchObject({ text: 'Fast.' })
  })

  it.each([{ model: 'huge' }, { model: 1 }, { other: true }, 'fast'])(
    '[AG2a] %j is 400 bad-choices, and nothing is stored',
    async (choices) => {
      const { post, holdfast } = openChat()
      const refused = await post({ ...user('u1'), choices })
      expect(refused.status).toBe(400)
      expect(await refused.json()).toMatchObject({ error: { code: 'bad-choices' } })
      expect(await holdfast.store.readThread(parseThreadId(thread))).toBeNull()
    },
  )

  it('[AG2a] differ from person to person: what one may not pick is refused', async () => {
    const { get, post, holdfast } = openChat({
      models: ({ ownerId }) => (ownerId === 'ann' ? [fast, best] : [fast]),
    })
    const ids = async (owner: string) =>
      ((await get('agent', owner)).body as { models: { id: string }[] }).models.map(({ id }) => id)
    expect([await ids('ann'), await ids('bob')]).toEqual([['fast', 'best'], ['fast']])
    const refused = await post({ ...user('u1'), choices: { model: 'best' } }, 'bob')
    expect(refused.status).toBe(400)
    expect(await holdfast.store.readThread(parseThreadId(thread))).toBeNull()
  })

  it('[AG2a] a file that the picked model does not take is 400 file-not-accepted, and nothing is stored', async () => {
    const { post, holdfast, last } = openChat()
    const choices = { model: 'best' }
    const refused = await post({ ...user('u1', file('audio/wav', 'song.wav')), choices })
    expect(refused.status).toBe(400)
    const { error } = (await refused.json()) as { error: { code: string; message: string } }
    expect(error.code).toBe('file-not-accepted')
    expect(error.message).toContain('song.wav')
    expect(await holdfast.store.readThread(parseThreadId(thread))).toBeNull()
    expect((await post({ ...user('u1', file('IMAGE/PNG')), choices })).status).toBe(200)
    expect((await post({ ...user('u2', file('audio/wav')) })).status).toBe(200)
    const { id } = await last()
    const again = await post({ trigger: 'regenerate-message', choices })
    expect(again.status).toBe(400)
    expect((await last()).id).toBe(id)
  })

  it('[AG2a IN1] a message that waits keeps its pick, and one that cannot be taken does not wait', async () => {
    const begun = Promise.withResolvers<void>()
    const finish = Promise.withResolvers<string>()
    const look = tool({
      inputSchema: z.object({}),
      execute: () => {
        begun.resolve()
        return finish.promise
      },
    })
    const slow = scriptedModel(({ prompt }) =>
      prompt.at(-1)?.role === 'tool' ? [{ text: 'Slow.' }] : [{ call: 'look', input: {} }],
    )
    const { holdfast, last } = openChat({
      models: [{ ...fast, model: slow }, best],
      tools: { look },
    })
    const threadId = parseThreadId(thread)
    const send = async (id: string, choices?: { readonly model: string }, ...files: UserPart[]) =>
      holdfast.send({
        threadId,
        message: { id: parseMessageId(id), parts: [{ type: 'text', text: 'hi' }, ...files] },
        create: { ownerId: parseOwnerId('ann'), title: '' },
        ...(choices === undefined ? {} : { choices }),
      })
    await send('u1')
    await begun.promise
    const song = { type: 'file', mediaType: 'audio/wav', url: 'data:;base64,AA==' } as const
    await expect(send('u2', { model: 'huge' })).rejects.toMatchObject({ code: 'bad-choices' })
    await expect(send('u2', { model: 'best' }, song)).rejects.toMatchObject({
      code: 'file-not-accepted',
    })
    expect(await holdfast.queues.list(thread)).toEqual([])
    expect(await send('u2', { model: 'best' })).toMatchObject({ kind: 'queued' })
    expect(await holdfast.queues.list(thread)).toMatchObject([{ choices: { model: 'best' } }])
    finish.resolve('seen')
    await holdfast.settled()
    expect([(await last()).choices, textOf(await last())]).toMatchObject([
      { model: 'best' },
      { text: 'Best.' },
    ])
  })

  it('[AG2a] a list that cannot be had is 503, and nothing is stored', async () => {
    const { get, post, holdfast } = openChat({
      models: () => {
        throw new Error('secret')
      },
    })
    const answers = [await get('agent'), await post(user('u1'))]
    expect(answers.map(({ status }) => status)).toEqual([503, 503])
    expect(JSON.stringify(answers[0])).not.toContain('secret')
    expect(await holdfast.store.readThread(parseThreadId(thread))).toBeNull()
  })

  it.each([
    [{ models: [] }, 'not empty'],
    [{ models: [{ id: 'a', label: '' }] }, 'label'],
    [{ models: [fast, { ...best, id: 'fast' }] }, 'two models'],
    [{ models: [{ ...fast, accepts: ['png'] }] }, 'media types'],
    [{ models: [{ id: 'a', label: 'A' }] }, 'needs a "model"'],
    [{ models: [fast], agent: () => ({ model: fast.model }) }, 'function'],
  ] as const)('[CF1] %j is refused at start', (options, words) => {
    expect(() => openChat(options as never)).toThrow(words)
  })
})
