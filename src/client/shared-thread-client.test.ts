import { describe, expect, it } from 'vitest'
import { settled } from '../../test/support/scripted-clock.ts'
import { createScriptedServer, refusal } from '../../test/support/scripted-server.ts'
import { createSharedThreadClient } from './shared-thread-client.ts'

const page = (...ids: readonly string[]) =>
  Response.json({
    title: 'Shared',
    sharedAt: '2026-01-01T00:00:00.000Z',
    results: ids.map((id, index) => ({ role: 'user', id, seq: 9 - index, parts: [] })),
    nextCursor: null,
  })

/** Each request waits for its own response, and ignores its signal. */
function open() {
  const server = createScriptedServer()
  const answers: PromiseWithResolvers<Response>[] = []
  server.on(/shares/, () => {
    const answer = Promise.withResolvers<Response>()
    answers.push(answer)
    return answer.promise
  })
  const client = createSharedThreadClient({ shareId: 's', fetch: server.options.fetch })
  const shown = () => {
    const { status, connection, messages } = client.getSnapshot()
    return [status, connection.status, messages.map(({ id }) => id).join(' ')]
  }
  const answer = async (index: number, response: Response) => {
    answers[index]?.resolve(response)
    await settled()
  }
  return { server, client, shown, answer }
}

describe('a shared thread', () => {
  it('[FK5] is read once, however often it is asked for', async () => {
    const { server, client, shown, answer } = open()
    client.reconnect()
    expect([server.requests.length, shown()]).toEqual([0, ['loading', 'idle', '']])
    client.subscribe(() => {})
    client.subscribe(() => {})
    client.reconnect()
    expect([server.requests.length, shown()]).toEqual([1, ['loading', 'connecting', '']])
    await answer(0, page('b', 'a'))
    client.reconnect()
    expect([server.requests.length, shown()]).toEqual([1, ['ready', 'idle', 'a b']])
  })

  it('[FK5] [RS8] that is left while it is read is read by the next who looks, and shown once', async () => {
    const { server, client, shown, answer } = open()
    const leave = client.subscribe(() => {})
    leave()
    await settled()
    expect(shown()).toEqual(['loading', 'idle', ''])
    expect(server.requests.map(({ signal }) => signal?.aborted)).toEqual([true])
    client.subscribe(() => {})
    await answer(0, page('b', 'a'))
    expect(shown()).toEqual(['loading', 'connecting', ''])
    await answer(1, page('b', 'a'))
    expect([server.requests.length, shown()]).toEqual([2, ['ready', 'idle', 'a b']])
  })

  it('[FK5] [RS8] that was refused is read again by `reconnect`, and one at a time', async () => {
    const { server, client, shown, answer } = open()
    client.subscribe(() => {})
    await answer(0, refusal(404, 'share-not-found'))
    expect(client.getSnapshot().connection).toEqual({ status: 'refused', code: 'share-not-found' })
    client.reconnect()
    client.reconnect()
    expect(server.requests).toHaveLength(2)
    await answer(1, page('a'))
    expect(shown()).toEqual(['ready', 'idle', 'a'])
  })
})
