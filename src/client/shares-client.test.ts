import { describe, expect, it } from 'vitest'
import { type Answer, createScriptedServer, refusal } from '../../test/support/scripted-server.ts'
import { ApiError } from '../protocol/api-error.ts'
import { createSharesClient, type SharesClient } from './shares-client.ts'

const item = { id: 's/1', url: '/api/shares/s1', seq: 3, createdAt: '2026-01-01T00:00:00.000Z' }
const shares = 'https://chat.example/api/threads/a%20b%2Fc/shares'

function open(answer: Answer) {
  const server = createScriptedServer()
  server.on(/shares/, answer)
  const client = createSharesClient({
    baseUrl: 'https://chat.example',
    headers: () => ({ authorization: 'ana' }),
    fetch: server.options.fetch,
    threadId: 'a b/c',
  })
  return { server, client }
}

interface Verb {
  readonly call: (client: SharesClient) => Promise<unknown>
  readonly request: readonly [string, unknown, object]
}
const authorized = { authorization: 'ana' }
const verbs: Readonly<Record<keyof SharesClient, Verb>> = {
  list: { call: ({ list }) => list(), request: [`GET ${shares}`, undefined, authorized] },
  create: {
    call: ({ create }) => create(),
    request: [`POST ${shares}`, {}, { ...authorized, 'content-type': 'application/json' }],
  },
  revoke: {
    call: ({ revoke }) => revoke(item.id),
    request: [`DELETE ${shares}/s%2F1`, undefined, authorized],
  },
}

describe('the links of a thread', () => {
  it.each<readonly [keyof SharesClient, Response, unknown]>([
    ['list', Response.json({ results: [item] }), [item]],
    ['create', Response.json(item, { status: 201 }), item],
    ['revoke', new Response(null, { status: 204 }), undefined],
  ])('[FK5] %s', async (name, response, result) => {
    const { server, client } = open(() => response)
    expect(await verbs[name].call(client)).toEqual(result)
    expect(server.requests.map(({ line, body, headers }) => [line, body, headers])).toEqual([
      verbs[name].request,
    ])
  })

  const brokenOff = () =>
    new Response(new ReadableStream({ pull: (controller) => controller.error(new TypeError('x')) }))
  const unreadable = 'The response of the server cannot be read.'
  const cases: readonly (readonly [string, Answer, object | null, object | null])[] = [
    [
      'without a sign-in',
      () => refusal(401, 'not-authenticated'),
      ...both(new ApiError(401, 'not-authenticated', 'not-authenticated.')),
    ],
    [
      'when the request is too large',
      () =>
        Response.json({ error: { code: 'too-large', message: 'No.', max: 1 } }, { status: 413 }),
      ...both(new ApiError(413, 'too-large', 'No.', { max: 1 })),
    ],
    [
      'when the server asks to wait',
      () => refusal(429, 'too-many', { 'retry-after': '3' }),
      ...both(new ApiError(429, 'too-many', 'too-many.', {}, 3_000)),
    ],
    [
      'when nobody can be reached',
      () => Promise.reject(new TypeError('x')),
      ...both(new ApiError(0, 'unreachable', 'The server cannot be reached.')),
    ],
    [
      'with a refusal that is a page',
      () => new Response('<html>', { status: 502 }),
      ...both(new ApiError(502, 'http-error', 'The server responded with 502.')),
    ],
    // What comes after a revocation is not read.
    [
      'with an answer that is no JSON',
      () => new Response('<html>'),
      new ApiError(200, 'bad-answer', unreadable),
      null,
    ],
    [
      'with an answer that breaks off',
      brokenOff,
      new ApiError(0, 'unreachable', 'The answer of the server broke off.'),
      null,
    ],
  ]
  it.each(cases)('[FK5] fail %s', async (_, answer, read, revoked) => {
    const { client } = open(answer)
    const outcomeOf = ({ call }: Verb) =>
      call(client).then(
        () => null,
        (error: unknown) => error,
      )
    expect({
      list: await outcomeOf(verbs.list),
      create: await outcomeOf(verbs.create),
      revoke: await outcomeOf(verbs.revoke),
    }).toEqual({ list: read, create: read, revoke: revoked })
  })
})

function both(outcome: object): readonly [object, object] {
  return [outcome, outcome]
}
