import { expect, it } from 'vitest'
import { createScriptedServer, refusal } from '../../test/support/scripted-server.ts'
import { createThreadLists } from './thread-lists.ts'

it('[FK2] a thread that was deleted in one list does not come back in another that cannot be read again', async () => {
  const server = createScriptedServer()
  const thread = { id: 'a', title: 'a', pinned: true, archived: false, seq: 1 }
  const heal = server.on(/threads\?/, () =>
    Response.json({ results: [{ ...thread, createdAt: '', updatedAt: '' }], nextCursor: null }),
  )
  const list = createThreadLists({ fetch: server.options.fetch })
  const [all, pinned] = [list(), list({ pinned: true })]
  await Promise.all([all.refresh(), pinned.refresh()])
  const shown = () => [all, pinned].map((each) => each.getSnapshot().threads.length)
  expect(shown()).toEqual([1, 1])

  heal()
  const mend = server.on(/threads\?/, () => refusal(503, 'store-locked'))
  const { commit } = all.remove('a')
  expect(shown()).toEqual([0, 0])
  await commit()
  expect(shown()).toEqual([0, 0])
  mend()
  server.on(/threads\?/, () => Response.json({ results: [], nextCursor: null }))
  await pinned.refresh()
  expect(pinned.getSnapshot()).toEqual({ status: 'ready', threads: [], hasMore: false })
})
