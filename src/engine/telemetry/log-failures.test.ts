import { tool } from 'ai'
import { combineHooks, createHoldfast, type LifecycleEvent, logFailures, memory } from 'holdfast'
import { scriptedModel } from 'holdfast/testing'
import { expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'

it('[HT6] hooks of the host’s own can keep the log of failures, whose id clients are given', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  onTestFinished(() => log.mockRestore())
  const seen: LifecycleEvent['type'][] = []
  const boom = tool({
    inputSchema: z.object({}),
    execute(): string {
      throw new Error('kaput')
    },
  })
  const holdfast = createHoldfast({
    store: memory(),
    model: scriptedModel(({ index }) =>
      index === 0 ? [{ call: 'boom', input: {} }] : [{ text: 'It failed.' }],
    ),
    tools: { boom },
    hooks: combineHooks(logFailures, ({ type }) => seen.push(type)),
  })
  onTestFinished(() => holdfast.close())
  const message = { parts: [{ type: 'text', text: 'go' } as const] }
  await holdfast.send({ threadId: 't', message, create: { ownerId: 'ana' } })
  await holdfast.settled()
  const [answer] = (await holdfast.messages('t', { format: 'chat' }))?.results ?? []
  const [, errorId = 'no id'] = /\(error (\w+)\)/.exec(answer?.toolCalls[0]?.error ?? '') ?? []
  expect(log.mock.calls).toEqual([
    [`holdfast: tool boom failed (error ${errorId}, thread t): kaput`],
  ])
  expect(seen).toContain('failed')
})

it('[HT6] a name of a model that is resolved without a key: the log has the reason of the SDK, and clients do not', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  onTestFinished(() => log.mockRestore())
  vi.stubEnv('AI_GATEWAY_API_KEY', undefined)
  vi.stubEnv('VERCEL_OIDC_TOKEN', undefined)
  onTestFinished(() => void vi.unstubAllEnvs())
  const holdfast = createHoldfast({ store: memory(), model: 'openai/gpt-5', tools: {} })
  onTestFinished(() => holdfast.close())
  const message = { parts: [{ type: 'text', text: 'go' } as const] }
  const sent = await holdfast.send({ threadId: 't', message, create: { ownerId: 'ana' } })
  await holdfast.settled()
  const lines = log.mock.calls.map(([line]) => String(line))
  expect(lines).toEqual([
    expect.stringMatching(
      /^holdfast: model failed .*: The model’s provider rejected the API key\. \(.*AI_GATEWAY_API_KEY.*\)$/,
    ),
  ])
  expect(sent.kind).toBe('started')
  const page = JSON.stringify(await holdfast.messages('t', { format: 'ui' }))
  expect(page).toContain('The model’s provider rejected the API key. (error ')
  expect(page).not.toContain('AI_GATEWAY')
})
