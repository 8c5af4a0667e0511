import { tool } from 'ai'
import { createHoldfast, memory } from 'holdfast'
import { createHandler } from 'holdfast/server'
import { scriptedModel } from 'holdfast/testing'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'

it('[HT1] a tool without a policy is listed with what holds without one', async () => {
  const note = tool({ inputSchema: z.object({}), execute: () => 1 })
  const holdfast = createHoldfast({
    store: memory(),
    model: scriptedModel(() => []),
    tools: { plain: note, dated: note },
    policies: { dated: { approval: 'always', repeatable: true, version: '2' } },
    recoverEveryMs: 0,
  })
  onTestFinished(() => holdfast.close())
  const handle = createHandler(holdfast, { localOnly: true })
  const response = await handle(new Request('http://localhost/api/tools'))
  const inputSchema = expect.objectContaining({ type: 'object' }) as unknown
  const about = { description: '', inputSchema }
  expect(await response.json()).toEqual({
    results: [
      { name: 'plain', ...about, approval: 'never', repeatable: false, version: '1' },
      { name: 'dated', ...about, approval: 'always', repeatable: true, version: '2' },
    ],
  })
})
