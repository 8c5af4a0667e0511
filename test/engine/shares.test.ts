import { randomUUID } from 'node:crypto'
import { tool } from 'ai'
import { type Holdfast, memory, type Store } from 'holdfast'
import { sqlite } from 'holdfast/sqlite'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { temporaryFile } from '../sqlite/temporary-file.ts'
import { turnsDuring } from '../support/turns-during.ts'
import { createFixture, echo, type Fixture, gate, type Script } from './fixture.ts'

const stores: Readonly<Record<string, () => Store>> = {
  memory: () => memory(),
  sqlite: () => sqlite(temporaryFile()),
}

const answering: Script = ({ index }) => [{ text: `answer ${index}` }]

async function share({ holdfast, threadId }: Fixture): Promise<string> {
  const result = await holdfast.shares.create(threadId)
  if (result.kind !== 'shared') throw new Error(result.kind)
  return result.share.id
}

/** All that a reader can get, in every format. */
async function readAll({ shares }: Holdfast, id: string): Promise<string> {
  const pages = await Promise.all(
    (['ui', 'chat', 'ledger', 'vercel', 'entities'] as const).map(async (format) => {
      const results: unknown[] = []
      for (let cursor: string | undefined; ;) {
        const page = await shares.messages(id, { format, limit: 2, ...(cursor && { cursor }) })
        if (page === null) return null
        results.push(page.title, ...page.results)
        if (page.nextCursor === null) return results
        cursor = page.nextCursor
      }
    }),
  )
  return JSON.stringify(pages)
}

const edit = async ({ holdfast, threadId }: Fixture, replaces: string, text: string) => {
  await holdfast.send({
    threadId,
    message: { id: replaces, parts: [{ type: 'text', text }] },
    replaces,
  })
  await holdfast.settled()
}

describe.each(Object.entries(stores))('shares on %s', (_, open) => {
  it('[OP7b FK5] others have their turn between the messages of a page', async () => {
    const fixture = await createFixture(answering, { store: open() })
    for (const text of ['one', 'two', 'three']) await fixture.runTurn(text)
    const id = await share(fixture)
    const { turns, result: page } = await turnsDuring(() => fixture.holdfast.shares.messages(id))
    expect(page?.results).toHaveLength(6)
    expect(turns).toBeGreaterThanOrEqual(6)
  })

  it('[FK5] shows what was shown when it was made, in pages, and nothing of its owner', async () => {
    const script: Script = ({ index }) =>
      index === 0 ? [{ call: 'echo', input: { value: 'given' } }] : [{ text: `answer ${index}` }]
    const fixture = await createFixture(script, { store: open(), tools: { echo } })
    const { holdfast, threadId } = fixture
    const message = { id: 'mine', parts: [{ type: 'text', text: 'question' }] as const }
    await holdfast.send({
      threadId,
      message: { ...message, metadata: { secret: 'of the client' } },
    })
    await holdfast.settled()
    await fixture.runTurn('and then?')
    await holdfast.threads.update(threadId, {
      title: 'A title',
      metadata: { secret: 'of the host' },
    })
    const { id: last } = await fixture.last()
    await holdfast.giveFeedback(last, { by: 'owner', rating: 'down', comment: 'secret words' })
    const result = await holdfast.shares.create(threadId)
    const seq = (await holdfast.threads.get(threadId))?.seq
    expect(result).toMatchObject({ kind: 'shared', share: { threadId, seq } })
    const id = result.kind === 'shared' ? result.share.id : ''
    expect(id).toMatch(/^shr_[\w-]{32}$/)
    const page = await holdfast.shares.messages(id, { limit: 3 })
    expect(page).toMatchObject({ title: 'A title', hasMore: true })
    expect(page?.results.map(({ role }) => role)).toEqual(['assistant', 'user', 'assistant'])
    expect(page?.results[0]?.parts).toEqual((await holdfast.messages(threadId))?.results[0]?.parts)
    const rest = await holdfast.shares.messages(id, { limit: 3, cursor: page?.nextCursor ?? '' })
    expect(rest).toMatchObject({ hasMore: false, nextCursor: null, results: [{ id: 'mine' }] })
    const all = await readAll(holdfast, id)
    expect(all).toContain('given')
    for (const hidden of ['secret', '"owner"', threadId]) expect(all).not.toContain(hidden)
    expect(await holdfast.shares.list(threadId)).toEqual([
      result.kind === 'shared' ? result.share : null,
    ])
    await holdfast.close()
  })

  it('[FK5] shows nothing later, whatever is done to the thread', async () => {
    const script: Script = ({ index, prompt }) => {
      const isAsked = JSON.stringify(prompt).includes('call the tool')
      return index % 2 === 0 && isAsked && index > 5
        ? [{ call: 'later_tool', input: { value: 'later input' } }]
        : [{ text: index < 2 ? `answer ${index}` : `later answer ${index}` }]
    }
    const later_tool = tool({
      inputSchema: z.object({ value: z.string() }),
      execute: () => 'later output',
    })
    const fixture = await createFixture(script, { store: open(), tools: { later_tool } })
    const { holdfast, threadId } = fixture
    const { id: first } = await fixture.runTurn('question 1')
    const { id: second } = await fixture.runTurn('question 2')
    await holdfast.threads.update(threadId, { title: 'Before' })
    const id = await share(fixture)
    const before = await readAll(holdfast, id)
    expect(before).toContain('answer 1')
    const changes: Readonly<Record<string, () => Promise<unknown>>> = {
      'another message': () => fixture.runTurn('later question'),
      'a new answer': async () => {
        await holdfast.regenerate({ threadId })
        await holdfast.settled()
      },
      'an edit under the same id': () => edit(fixture, 'user-1', 'later words'),
      'an edit of a later message': () => fixture.runTurn('later still'),
      'another version that is shown': () => holdfast.show(threadId, second),
      feedback: () =>
        holdfast.giveFeedback(first, { by: 'owner', rating: 'down', comment: 'later comment' }),
      'another title': () => holdfast.threads.update(threadId, { title: 'later title' }),
      'a call and its result': () => fixture.runTurn('call the tool, later'),
      'a posted message': () =>
        holdfast.post(threadId, {
          id: 'posted',
          role: 'user',
          parts: [{ type: 'text', text: 'later post' }],
        }),
      'a fork': () => holdfast.threads.fork(threadId, { title: 'later fork' }),
      metadata: () => holdfast.threads.update(threadId, { metadata: { note: 'later note' } }),
    }
    for (const [what, change] of Object.entries(changes)) {
      await change()
      expect([what, await readAll(holdfast, id)]).toEqual([what, before])
    }
    expect(before).not.toContain('later')
    const newer = await readAll(holdfast, await share(fixture))
    expect(newer).toContain('later post')
    await holdfast.close()
  })

  it('[FK5] leaves out an answer that is being made or waits, and goes on showing one as it was before it was continued', async () => {
    const { opened, open: letGo } = gate()
    const slow = { ...echo, execute: () => opened.then(() => 'late result') }
    const fixture = await createFixture(
      ({ index }) =>
        index === 1 ? [{ call: 'slow', input: { value: 1 } }] : [{ text: `answer ${index}` }],
      { store: open(), tools: { slow }, maxSteps: 1 },
    )
    const { holdfast, threadId } = fixture
    await fixture.runTurn('question')
    await fixture.send('slow question')
    const running = await share(fixture)
    const shown = await holdfast.shares.messages(running)
    expect(shown?.results.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    letGo()
    await holdfast.settled()
    expect(await readAll(holdfast, running)).not.toContain('late result')
    const limited = await share(fixture)
    const before = await readAll(holdfast, limited)
    expect(before).toContain('late result')
    expect(await holdfast.continue(threadId)).toMatchObject({ kind: 'continued' })
    await holdfast.settled()
    expect(await readAll(holdfast, limited)).toBe(before)
    expect(before).not.toContain('answer 2')
    await holdfast.close()
  })

  it('[FK5] a link that was revoked, of a thread that is gone or that nobody made is nothing, all alike', async () => {
    const fixture = await createFixture(answering, { store: open() })
    const { holdfast, threadId } = fixture
    expect(await holdfast.shares.create(threadId)).toEqual({ kind: 'nothing-to-share' })
    expect(await holdfast.shares.create('nowhere')).toEqual({ kind: 'no-thread' })
    await fixture.runTurn('question')
    expect(await holdfast.shares.create(threadId, { ownerId: 'ben' })).toEqual({
      kind: 'no-thread',
    })
    const [revoked, deleted] = [await share(fixture), await share(fixture)]
    expect(await holdfast.shares.revoke(threadId, revoked, { ownerId: 'ben' })).toBe(false)
    expect(await holdfast.shares.revoke('another', revoked)).toBe(false)
    expect(await holdfast.shares.revoke(threadId, revoked, { ownerId: 'owner' })).toBe(true)
    expect(await holdfast.shares.revoke(threadId, revoked)).toBe(false)
    expect(await holdfast.shares.messages(revoked)).toBeNull()
    expect(await holdfast.shares.list(threadId)).toMatchObject([{ id: deleted }])
    expect(await holdfast.shares.list(threadId, { ownerId: 'ben' })).toBeNull()
    await holdfast.threads.delete(threadId)
    for (const id of [revoked, deleted, `shr_${'x'.repeat(32)}`, 'shr_', randomUUID(), '', '💥']) {
      expect(await holdfast.shares.messages(id)).toBeNull()
      expect(await holdfast.shares.file(id, `file_${'a'.repeat(32)}`)).toBeNull()
      expect(await holdfast.shares.result(id, 'call')).toBeNull()
    }
    await holdfast.close()
  })

  it('[FK5] a thread has at most 50 links, and a cursor is good for one of them', async () => {
    const fixture = await createFixture(answering, { store: open() })
    const { holdfast, threadId } = fixture
    await fixture.runTurn('question')
    const ids = new Set<string>()
    for (let made = 0; made < 50; made++) ids.add(await share(fixture))
    expect(ids.size).toBe(50)
    await expect(holdfast.shares.create(threadId)).rejects.toMatchObject({ code: 'shares-full' })
    const [one = '', other = ''] = ids
    const page = await holdfast.shares.messages(one, { limit: 1 })
    const cursor = page?.nextCursor ?? ''
    await expect(holdfast.shares.messages(other, { cursor })).rejects.toMatchObject({
      code: 'bad-cursor',
    })
    await expect(holdfast.shares.messages(one, { format: 'html' as never })).rejects.toMatchObject({
      code: 'bad-request',
    })
    await holdfast.shares.revoke(threadId, one)
    expect(await holdfast.shares.create(threadId)).toMatchObject({ kind: 'shared' })
    await holdfast.close()
  })

  it('[FK5] gives the files and the large results that it shows, and no others', async () => {
    const file = async (holdfast: Holdfast, name: string) =>
      holdfast.files.add({
        ownerId: 'owner',
        content: bytes(name),
        mediaType: 'text/plain',
        filename: `${name}.txt`,
      })
    const large = tool({
      inputSchema: z.object({ url: z.string() }),
      execute: ({ url }) => ({ url, text: 'x'.repeat(20_000) }),
    })
    let named = ''
    const script: Script = ({ index }) =>
      index % 2 === 0 ? [{ call: 'large', input: { url: named } }] : [{ text: 'Done.' }]
    const fixture = await createFixture(script, { store: open(), tools: { large } })
    const { holdfast, threadId } = fixture
    const [mine, inResult, later] = [
      await file(holdfast, 'mine'),
      await file(holdfast, 'in-result'),
      await file(holdfast, 'later'),
    ]
    const sendFile = async (url: string, inOutput: string) => {
      named = inOutput
      await holdfast.send({
        threadId,
        message: {
          id: randomUUID(),
          parts: [{ type: 'file', mediaType: 'text/plain', url }],
        },
      })
      await holdfast.settled()
    }
    await sendFile(`/api/files/${mine.id}`, `/api/files/${inResult.id}`)
    const id = await share(fixture)
    await sendFile(`/chat/api/files/${later.id}`, '')
    const page = await holdfast.shares.messages(id, { basePath: '/chat' })
    const all = JSON.stringify(page)
    expect(all).toContain(`"/chat/api/shares/${id}/files/${mine.id}"`)
    expect(all).not.toContain('/api/files/')
    expect(all).not.toContain('x'.repeat(100))
    const [, callId = ''] = /\/chat\/api\/shares\/[\w-]+\/tool-calls\/([^"]+)"/.exec(all) ?? []
    const result = await holdfast.shares.result(id, callId, '/chat')
    const url = `/chat/api/shares/${id}/files/${inResult.id}`
    expect(result).toEqual({ id: callId, name: 'large', result: { url, text: 'x'.repeat(20_000) } })
    for (const { id: fileId } of [mine, inResult]) {
      const found = await holdfast.shares.file(id, fileId)
      expect(found?.file).toMatchObject({ id: fileId, mediaType: 'text/plain' })
      expect(found?.file).not.toHaveProperty('ownerId')
      expect(await textOf((await found?.read()) ?? null)).not.toBe('')
    }
    expect(await holdfast.shares.file(id, later.id)).toBeNull()
    const calls = await fixture.store.readPage({
      ...{ threadId, limit: 1, before: null, live: 'include', results: 'full' },
    })
    const [, laterCall = ''] = /"id":"(call_\w+)"/.exec(JSON.stringify(calls)) ?? []
    expect(laterCall).not.toBe(callId)
    expect(await holdfast.shares.result(id, laterCall)).toBeNull()
    await holdfast.close()
  })
})

async function* bytes(text: string) {
  yield new TextEncoder().encode(text)
}

async function textOf(content: AsyncIterable<Uint8Array> | null): Promise<string> {
  let text = ''
  for await (const piece of content ?? []) text += new TextDecoder().decode(piece)
  return text
}
