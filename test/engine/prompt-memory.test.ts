import { tool } from 'ai'
import { createHoldfast, memory, parseMessageId, parseOwnerId, parseThreadId } from 'holdfast'
import { scriptedModel } from 'holdfast/testing'
import { expect, it, vi } from 'vitest'
import { z } from 'zod'
import { appendEvents } from '../../src/testing/store-rules/append-events.ts'
import { messageAdded } from '../../src/testing/store-rules/thread-script.ts'

const longHistory = 'x'.repeat(15_700_000)

it('[OP7a ST1] runs over long histories wait for those of their owner, and for nobody else; short ones never wait, and one that waits can be stopped', async () => {
  const store = memory()
  const asked: string[] = []
  const tools = new Map<string, PromiseWithResolvers<string>>()
  const holdfast = createHoldfast({
    store,
    recoverEveryMs: 0,
    model: scriptedModel(({ prompt }) => {
      if (prompt.at(-1)?.role === 'tool') return [{ text: 'Done.' }]
      const { content } = prompt.at(-1) as {
        readonly content: readonly { readonly text?: string }[]
      }
      const name = content.at(-1)?.text ?? ''
      asked.push(name)
      return [{ call: 'wait', input: { name } }]
    }),
    tools: {
      wait: tool({
        inputSchema: z.object({ name: z.string() }),
        execute: ({ name }) => {
          const waiting = Promise.withResolvers<string>()
          tools.set(name, waiting)
          return waiting.promise
        },
      }),
    },
  })
  const runWithHistory = async (name: string, history = longHistory) => {
    const [owner = ''] = name.split('-')
    const threadId = parseThreadId(name)
    await store.createThread({ id: threadId, ownerId: parseOwnerId(owner), title: '', at: 1 })
    await appendEvents(store, {
      threadId,
      events: [messageAdded(history, parseMessageId(`${name}-old`))],
    })
    const parts = [{ type: 'text', text: name }] as const
    await holdfast.send({ threadId, message: { id: parseMessageId(`${name}-new`), parts } })
  }
  const ann = Array.from({ length: 10 }, (_, index) => `ann-${index}`)
  for (const name of ann) await runWithHistory(name)
  await runWithHistory('bob-0')
  await runWithHistory('ann-short', 'Hello.')
  await vi.waitFor(() => expect(tools.size).toBe(10))
  expect(asked.toSorted()).toEqual([...ann.slice(0, 8), 'ann-short', 'bob-0'])

  await holdfast.stop(parseThreadId('ann-8'))
  await holdfast.settled(parseThreadId('ann-8'))
  tools.get('ann-3')?.resolve('done')
  await vi.waitFor(() => expect(asked).toContain('ann-9'))
  await vi.waitFor(() => expect(tools.has('ann-9')).toBe(true))
  for (const waiting of tools.values()) waiting.resolve('done')
  await holdfast.settled()
  expect(asked).not.toContain('ann-8')
  const page = await store.readPage({
    ...{
      threadId: parseThreadId('ann-8'),
      limit: 1,
      before: null,
      live: 'include',
      results: 'full',
    },
  })
  expect(page?.messages[0]).toMatchObject({ progress: { ending: { kind: 'stopped' } } })
  await holdfast.close()
})
