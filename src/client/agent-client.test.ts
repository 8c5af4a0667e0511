import { describe, expect, it } from 'vitest'
import { settled } from '../../test/support/scripted-clock.ts'
import { type Answer, createScriptedServer, refusal } from '../../test/support/scripted-server.ts'
import { type AgentInfo, createAgentClient } from './agent-client.ts'

const nothing: AgentInfo = { models: [], choices: null, person: null, sharing: false }
const info: AgentInfo = {
  models: [{ id: 'large', label: 'Large', accepts: ['image/*'] }],
  choices: { type: 'object' },
  person: 'ana',
  sharing: true,
}

function open(answer: Answer) {
  const server = createScriptedServer()
  server.on(/agent/, answer)
  const client = createAgentClient({
    basePath: '/chat',
    headers: () => ({ authorization: 'ana' }),
    fetch: server.options.fetch,
  })
  let changes = 0
  const look = async () => {
    const leave = client.subscribe(() => changes++)
    await settled()
    return leave
  }
  return { server, client, look, changes: () => changes }
}

describe('what may be chosen', () => {
  it('[AG2a] is read once, by the first who looks', async () => {
    const { server, client, look, changes } = open(() => Response.json(info))
    expect([client.getSnapshot(), server.requests]).toEqual([nothing, []])
    const leave = await look()
    expect([client.getSnapshot(), changes()]).toEqual([info, 1])
    leave()
    await look()
    await look()
    expect([client.getSnapshot(), changes()]).toEqual([info, 1])
    expect(server.requests.map(({ line, headers }) => [line, headers])).toEqual([
      ['GET /chat/api/agent', { authorization: 'ana' }],
    ])
  })

  it.each<readonly [string, object, AgentInfo]>([
    [
      'an older server',
      { models: info.models, choices: null },
      { ...nothing, models: info.models },
    ],
    ['a server without models', { models: null, person: 'ana' }, { ...nothing, person: 'ana' }],
    ['a server that says nothing', {}, nothing],
  ])('[AG2a] of %s is what it says of it', async (_, answer, expected) => {
    const { client, look } = open(() => Response.json(answer))
    await look()
    expect(client.getSnapshot()).toEqual(expected)
  })

  it.each<readonly [string, Answer]>([
    ['nobody is signed in', () => refusal(401, 'not-authenticated')],
    ['the request is too large', () => refusal(413, 'too-large')],
    ['the server asks to wait', () => refusal(429, 'too-many', { 'retry-after': '3' })],
    ['an older server has no such route', () => refusal(404, 'not-found')],
    ['nobody can be reached', () => Promise.reject(new TypeError('x'))],
    ['the answer is no JSON', () => new Response('<html>')],
    ['the answer is no object', () => Response.json(null)],
    [
      'the answer breaks off',
      () => new Response(new ReadableStream({ pull: (sent) => sent.error(new TypeError('x')) })),
    ],
  ])('[AG2a RS8] is nothing when %s, and the next who looks asks again', async (_, answer) => {
    const opened = open(answer)
    const { server, client, changes } = opened
    const leave = await opened.look()
    await server.clock.advance(600_000)
    expect([client.getSnapshot(), changes()]).toEqual([nothing, 0])
    expect([server.requests.length, server.clock.timers()]).toEqual([1, []])
    leave()
    server.on(/agent/, () => Response.json(info))
    await opened.look()
    expect([client.getSnapshot(), changes(), server.requests.length]).toEqual([info, 1, 2])
  })

  it('[AG2a RS8] that is left while it is read is read by the next who looks, and shown once', async () => {
    const answers: PromiseWithResolvers<Response>[] = []
    const { server, client, look, changes } = open(() => {
      const answer = Promise.withResolvers<Response>()
      answers.push(answer)
      return answer.promise
    })
    const leave = await look()
    leave()
    await look()
    expect(server.requests.map(({ signal }) => signal?.aborted)).toEqual([true, false])
    answers[0]?.resolve(Response.json({ ...info, person: 'ben' }))
    await settled()
    expect([client.getSnapshot(), changes()]).toEqual([nothing, 0])
    answers[1]?.resolve(Response.json(info))
    await settled()
    expect([client.getSnapshot(), changes()]).toEqual([info, 1])
  })
})
