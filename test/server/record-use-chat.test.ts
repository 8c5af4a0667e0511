import {
  convertToModelMessages,
  isStepCount,
  streamText,
  tool,
  type ToolSet,
  type UIMessage,
} from 'ai'
import { createHoldfast, memory, parseMessageId, parseOwnerId, parseThreadId } from 'holdfast'
import { createHandler, listen } from 'holdfast/server'
import { scriptedModel } from 'holdfast/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { openTab, type Sdk, type Tab } from './chat-tab.ts'
import { readPage } from './thread-page.ts'

const tools: ToolSet = {
  remove: tool({
    inputSchema: z.object({ path: z.string() }),
    needsApproval: true,
    execute: ({ path }) => ({ removed: path }),
  }),
  /** Run by the client. */
  ask: tool({ inputSchema: z.object({ question: z.string() }) }) as ToolSet[string],
}

/** An app that keeps its own `streamText` route, and has Holdfast record it. */
async function start(sdk: Sdk) {
  const store = memory()
  const holdfast = createHoldfast({ store, recoverEveryMs: 0, textDelayMs: 0 })
  const model = scriptedModel(({ prompt }) => {
    const last = prompt.at(-1)
    if (last?.role === 'tool') return [{ text: 'Done.' }]
    return JSON.stringify(last?.content).includes('"rm"')
      ? [{ text: 'Removing.' }, { call: 'remove', input: { path: '/tmp' }, streamed: true }]
      : [{ call: 'ask', input: { question: 'Which?' } }]
  })
  const route = async (request: Request): Promise<Response> => {
    const { id, messages } = (await request.json()) as { id: string; messages: UIMessage[] }
    const last = messages.at(-1)
    if (last === undefined) return new Response(null, { status: 400 })
    const { stream } = streamText({
      model,
      tools,
      messages: await convertToModelMessages(messages),
      stopWhen: isStepCount(5),
    })
    const threadId = parseThreadId(id)
    const recording = await holdfast.record(
      stream,
      last.role === 'assistant'
        ? { threadId, continue: parseMessageId(last.id), message: last, by: 'local' }
        : {
            threadId,
            message: {
              id: parseMessageId(last.id),
              parts: last.parts.flatMap((part) => (part.type === 'text' ? [part] : [])),
            },
            create: { ownerId: parseOwnerId('local'), title: '' },
          },
    )
    return recording.toResponse({ sdk })
  }
  const rest = createHandler(holdfast)
  const server = await listen(
    (request) =>
      request.method === 'POST' && new URL(request.url).pathname === '/api/chat'
        ? route(request)
        : rest(request),
    { port: 0, host: '127.0.0.1' },
  )
  onTestFinished(async () => {
    await server.close()
    await holdfast.close()
  })
  return { url: server.url, page: () => readPage({ url: server.url, threadId: 't', sdk }) }
}

const lastTool = (tab: Tab): ToolPart => {
  const part: unknown = tab.messages().at(-1)?.parts.at(-1)
  return part as ToolPart
}

type ToolPart = { readonly toolCallId: string; readonly approval: { readonly id: string } }

describe.each([6, 7] as const)('a recorded route and an unmodified useChat of AI SDK %i', (sdk) => {
  it.each([true, false])(
    '[CL12 RS3 AP5] show the same after an approval as a reload: %s',
    async (approved) => {
      const { url, page } = await start(sdk)
      const tab = openTab({ url, threadId: 't', client: sdk, automatic: 'approvals' })
      await tab.chat.sendMessage({ text: 'rm' })
      expect(tab.messages()).toEqual(await page())
      const { approval } = lastTool(tab)
      await tab.chat.addToolApprovalResponse({ id: approval.id, approved, reason: 'because' })
      await tab.idle()
      expect(tab.chat.error).toBeUndefined()
      const stored = await page()
      expect(tab.messages()).toEqual(stored)
      expect(stored).toHaveLength(2)
      expect(JSON.stringify(stored)).toContain(approved ? '{"removed":"/tmp"}' : 'output-denied')
      expect(JSON.stringify(stored)).toContain('because')
      expect(stored.at(-1)?.parts.at(-1)).toMatchObject({ text: 'Done.' })
    },
  )

  it('[CL12 RS3] show the same after a result of the client as a reload', async () => {
    const { url, page } = await start(sdk)
    const tab = openTab({ url, threadId: 't', client: sdk, automatic: 'outputs' })
    await tab.chat.sendMessage({ text: 'ask' })
    expect(tab.messages()).toEqual(await page())
    const { toolCallId } = lastTool(tab)
    await tab.chat.addToolOutput({ tool: 'ask' as never, toolCallId, output: 'this' })
    await tab.idle()
    expect(tab.chat.error).toBeUndefined()
    const stored = await page()
    expect(tab.messages()).toEqual(stored)
    expect(JSON.stringify(stored)).toContain('"output":"this"')
    expect(stored.at(-1)?.parts.at(-1)).toMatchObject({ text: 'Done.' })
  })
})
