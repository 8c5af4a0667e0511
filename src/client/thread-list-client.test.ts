import { describe, expect, it } from 'vitest'
import { settled } from '../../test/support/scripted-clock.ts'
import { createScriptedServer, refusal } from '../../test/support/scripted-server.ts'
import { createThreadListClient } from './thread-list-client.ts'

const item = (id: string, title = id) => ({ id, title, createdAt: '', updatedAt: '', seq: 1 })
const page = (ids: readonly string[], nextCursor: string | null = null) =>
  Response.json({ results: ids.map((id) => item(id)), nextCursor })

function open() {
  const server = createScriptedServer()
  const client = createThreadListClient({ fetch: server.options.fetch })
  const shown = () => {
    const { status, threads, hasMore } = client.getSnapshot()
    return [status, threads.map(({ title }) => title).join(' '), hasMore]
  }
  return { server, client, shown }
}
async function openWith(...ids: readonly string[]) {
  const opened = open()
  const heal = opened.server.on(/threads\?/, () => page(ids))
  opened.client.subscribe(() => {})
  await settled()
  heal()
  return opened
}

describe('the list of threads', () => {
  it('[PG2] is read with the first subscriber, and then page by page, each thread once', async () => {
    const { server, client, shown } = open()
    server.on(/limit=50$/, () => page(['a', 'b'], 'c 2'))
    server.on(/cursor=c%202$/, () => page(['b', 'c']))
    expect(shown()).toEqual(['loading', '', false])
    client.subscribe(() => {})
    await settled()
    expect(shown()).toEqual(['ready', 'a b', true])
    await client.loadMore()
    expect(shown()).toEqual(['ready', 'a b c', false])
    await client.loadMore()
    expect(server.requests).toHaveLength(2)
  })

  it.each([
    [() => refusal(401, 'not-authenticated'), 'not-authenticated.'],
    [() => refusal(503, 'store-locked'), 'store-locked.'],
    [() => Promise.reject(new TypeError('x')), 'The server cannot be reached.'],
    [() => new Response('<html>'), 'The response of the server cannot be read.'],
  ])('[RS9] says why it could not be read, and keeps what it has: %#', async (refuse, words) => {
    const { server, client, shown } = await openWith('a')
    const heal = server.on(/threads\?/, refuse)
    await client.refresh()
    expect(shown()).toEqual(['failed', 'a', false])
    expect(client.getSnapshot().error).toBe(words)
    heal()
    server.on(/threads\?/, () => page(['b']))
    await client.refresh()
    expect(shown()).toEqual(['ready', 'b', false])
    expect(client.getSnapshot()).not.toHaveProperty('error')
  })

  it('[RS9] is the last one requested, also when an earlier response comes later', async () => {
    const { server, client, shown } = await openWith('a')
    const slow = Promise.withResolvers<Response>()
    const heal = server.on(/threads\?/, () => slow.promise)
    const first = client.refresh()
    heal()
    server.on(/threads\?/, () => page(['new']))
    await client.refresh()
    slow.resolve(page(['old']))
    await first
    expect(shown()).toEqual(['ready', 'new', false])
  })

  it('[RS9] ignores a page that was requested before a refresh', async () => {
    const { server, client, shown } = open()
    server.on(/limit=50$/, () => page(['a'], 'c'))
    client.subscribe(() => {})
    await settled()
    const slow = Promise.withResolvers<Response>()
    server.on(/cursor=/, () => slow.promise)
    const more = client.loadMore()
    server.on(/limit=50$/, () => page(['z', 'a'], 'd'))
    await client.refresh()
    slow.resolve(page(['b'], 'e'))
    await more
    expect(shown()).toEqual(['ready', 'z a', true])
  })
})

describe('a thread that is removed', () => {
  it('[RS9] leaves at once, comes back with undo, and is deleted with commit', async () => {
    const { server, client, shown } = await openWith('a', 'b')
    const { undo } = client.remove('a')
    expect(shown()).toEqual(['ready', 'b', false])
    undo()
    expect(shown()).toEqual(['ready', 'a b', false])
    server.drainRequests()
    await client.remove('a').commit()
    expect(shown()).toEqual(['ready', 'b', false])
    expect(server.drainRequests()).toEqual(['DELETE /api/threads/a'])
  })

  it('[RS9] comes back when it could not be deleted', async () => {
    const { server, client, shown } = await openWith('a', 'b')
    server.on(/DELETE/, () => refusal(503, 'store-locked'))
    await expect(client.remove('a').commit()).rejects.toThrow('store-locked.')
    expect(shown()).toEqual(['ready', 'a b', false])
  })

  it('[RS9] is gone when it was deleted elsewhere', async () => {
    const { server, client, shown } = await openWith('a', 'b')
    server.on(/DELETE/, () => refusal(404, 'thread-not-found'))
    await client.remove('a').commit()
    expect(shown()).toEqual(['ready', 'b', false])
  })

  it('[RS9] does not come back with a list that was requested before', async () => {
    const { server, client, shown } = await openWith('a', 'b')
    const slow = Promise.withResolvers<Response>()
    server.on(/threads\?/, () => slow.promise)
    const refreshed = client.refresh()
    await client.remove('a').commit()
    slow.resolve(page(['a', 'b']))
    await refreshed
    expect(shown()).toEqual(['ready', 'b', false])
  })

  it('[RS9] while the list is loading does not make the list ready', () => {
    const { client, shown } = open()
    client.remove('a')
    expect(shown()).toEqual(['loading', '', false])
  })
})

describe('responses that overtake each other', () => {
  /** Each request waits for its own response. */
  const hold = (server: ReturnType<typeof createScriptedServer>, line: RegExp) => {
    const held: PromiseWithResolvers<Response>[] = []
    server.on(line, () => {
      const next = Promise.withResolvers<Response>()
      held.push(next)
      return next.promise
    })
    return (index: number, response: Response) => held[index]?.resolve(response)
  }
  const changed = (title: string, seq: number, more: object = {}) =>
    Response.json({ ...item('a', title), seq, ...more })

  it.each([
    [0, 1],
    [1, 0],
  ])('[RS9] of two changes the later one is shown: %i before %i', async (...order) => {
    const { server, client, shown } = await openWith('a', 'b')
    const answer = hold(server, /PATCH/)
    const done = [client.rename('a', 'one'), client.rename('a', 'two')]
    for (const index of order) {
      answer(index, changed(['one', 'two'][index] as string, index + 2))
      await done[index]
    }
    expect(shown()).toEqual(['ready', 'two b', false])
  })

  it('[RS9] [FK2] a change does not bring back what a later one has archived', async () => {
    const { server, client, shown } = await openWith('a', 'b')
    const answer = hold(server, /PATCH/)
    const renamed = client.rename('a', 'one')
    const archived = client.update('a', { archived: true })
    answer(1, changed('one', 3, { archived: true }))
    await archived
    answer(0, changed('one', 2))
    await renamed
    expect(shown()).toEqual(['ready', 'b', false])
  })

  it.each([
    ['a title', { seq: 2 }, 'Tea b'],
    ['the archive', { seq: 2, archived: true }, 'b'],
  ])('[RS9] [FK2] a list from before a change does not revert it: %s', async (_, more, titles) => {
    const { server, client, shown } = await openWith('a', 'b')
    const answer = hold(server, /threads\?/)
    const refreshed = client.refresh()
    server.on(/PATCH/, () => changed('Tea', 2, more))
    await client.update('a', {})
    answer(0, page(['a', 'b']))
    await refreshed
    expect(shown()).toEqual(['ready', titles, false])
  })

  it('[RS9] a list from after a change shows what was changed elsewhere', async () => {
    const { server, client, shown } = await openWith('a', 'b')
    const answer = hold(server, /threads\?/)
    const refreshed = client.refresh()
    server.on(/PATCH/, () => changed('Tea', 2))
    await client.rename('a', 'Tea')
    answer(0, Response.json({ results: [{ ...item('a', 'Coffee'), seq: 3 }], nextCursor: null }))
    await refreshed
    expect(shown()).toEqual(['ready', 'Coffee', false])
  })

  it('[OP6] a change of a thread that was created again is shown, whatever its seq', async () => {
    const { server, client, shown } = await openWith('a', 'b')
    server.on(/PATCH/, () => changed('New', 0, { createdAt: '2026-01-01T00:00:00.000Z' }))
    await client.rename('a', 'New')
    expect(shown()).toEqual(['ready', 'New b', false])
  })

  it('[PG2] the same page requested twice moves the list once', async () => {
    const { server, client, shown } = open()
    server.on(/limit=50$/, () => page(['a'], 'c1'))
    client.subscribe(() => {})
    await settled()
    const answer = hold(server, /cursor=c1/)
    server.on(/cursor=c2/, () => page(['c']))
    const both = [client.loadMore(), client.loadMore()]
    answer(0, page(['b'], 'c2'))
    await both[0]
    await client.loadMore()
    answer(1, page(['b'], 'c2'))
    await both[1]
    expect(shown()).toEqual(['ready', 'a b c', false])
  })

  it('[RS9] a thread that is restored while it is being deleted is gone when it has been', async () => {
    const { server, client, shown } = await openWith('a', 'b')
    const answer = hold(server, /DELETE/)
    const { commit, undo } = client.remove('a')
    const done = commit()
    undo()
    expect(shown()).toEqual(['ready', 'a b', false])
    answer(0, new Response(null, { status: 204 }))
    await done
    expect(shown()).toEqual(['ready', 'b', false])
  })

  it('[RS9] who waits for a list that is requested again gets the later one', async () => {
    const { server, client, shown } = await openWith('a')
    const answer = hold(server, /threads\?/)
    const first = client.refresh().then(shown)
    void client.refresh()
    answer(0, page(['old']))
    await settled()
    answer(1, page(['new']))
    expect(await first).toEqual(['ready', 'new', false])
  })
})

it('[RS9] a thread is renamed as the server returns it, or not at all', async () => {
  const { server, client, shown } = await openWith('a', 'b')
  const heal = server.on(/PATCH/, () => refusal(400, 'bad-request'))
  await expect(client.rename('a', '')).rejects.toThrow('bad-request.')
  expect(shown()).toEqual(['ready', 'a b', false])
  heal()
  server.on(/PATCH/, () => Response.json(item('a', 'Tea')))
  await client.rename('a', ' Tea ')
  expect(shown()).toEqual(['ready', 'Tea b', false])
})

it('[FK2] each list requests its own threads, and one that no longer belongs leaves it', async () => {
  const server = createScriptedServer()
  const kept = (id: string, pinned: boolean, archived: boolean) => ({
    ...item(id),
    pinned,
    archived,
  })
  const answer = (...threads: readonly object[]) =>
    Response.json({ results: threads, nextCursor: null })
  const { fetch } = server.options
  const archive = createThreadListClient({ fetch, archived: true })
  const pinned = createThreadListClient({ fetch, pinned: true })
  server.on(/limit=50&archived=1$/, () => answer(kept('a', false, true)))
  server.on(/limit=50&pinned=1$/, () => answer(kept('b', true, false)))
  await Promise.all([archive.refresh(), pinned.refresh()])
  const ids = (list: typeof archive) => list.getSnapshot().threads.map(({ id }) => id)
  expect([ids(archive), ids(pinned)]).toEqual([['a'], ['b']])

  const heal = server.on(/PATCH/, () => refusal(500, 'store-failed'))
  await expect(archive.update('a', { archived: false })).rejects.toThrow('store-failed')
  expect(ids(archive)).toEqual(['a'])
  heal()
  server.on(/PATCH/, () => Response.json(kept('a', true, false)))
  await archive.update('a', { archived: false, pinned: true })
  expect(ids(archive)).toEqual([])
  // The thread belongs to the other list, which does not have it: that list is read again.
  server.on(/limit=50&pinned=1$/, () => answer(kept('a', true, false), kept('b', true, false)))
  await pinned.update('a', { pinned: true })
  expect(ids(pinned)).toEqual(['a', 'b'])
})
