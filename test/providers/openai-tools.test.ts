import { createOpenAI } from '@ai-sdk/openai'
import { tool } from 'ai'
import { callsOf } from 'holdfast'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { textOf } from './number-tools.ts'
import { startToolServer } from './tool-server.ts'

const openai = createOpenAI({ apiKey: 'key' })
const responses = (baseURL: string) => createOpenAI({ apiKey: 'key', baseURL }).responses('gpt-5')
const response = (more: object) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  model: 'gpt-5',
  output: [],
  ...more,
})
const usage = {
  input_tokens: 1,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 1,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 2,
}
const added = (output_index: number, item: object) => ({
  type: 'response.output_item.added',
  output_index,
  item,
})
const done = (output_index: number, item: object) => ({
  type: 'response.output_item.done',
  output_index,
  item,
})
const openaiText = (output_index: number, text: string) => {
  const id = `msg_${output_index}`
  const message = { type: 'message', id, role: 'assistant', status: 'completed', content: [] }
  return [
    added(output_index, message),
    {
      type: 'response.output_text.delta',
      item_id: id,
      output_index,
      content_index: 0,
      delta: text,
    },
    done(output_index, {
      ...message,
      content: [{ type: 'output_text', text, annotations: [] }],
    }),
  ]
}
const openaiAnswer = (...events: readonly object[]) => [
  { type: 'response.created', response: response({ status: 'in_progress' }) },
  ...events,
  { type: 'response.completed', response: response({ status: 'completed', usage }) },
]

describe('tools that OpenAI runs', () => {
  it('[CL10 FD1] draw an image in pieces: the last one is the result, live and stored', async () => {
    const item = { type: 'image_generation_call', id: 'ig_1' }
    const partial = (index: number, partial_image_b64: string) => ({
      type: 'response.image_generation_call.partial_image',
      item_id: 'ig_1',
      output_index: 0,
      partial_image_index: index,
      partial_image_b64,
    })
    const { tab, page, turn, holdfast } = await startToolServer({
      model: responses,
      tools: { image_generation: openai.tools.imageGeneration({ partialImages: 2 }) },
      replies: [
        openaiAnswer(
          added(0, { ...item, status: 'in_progress' }),
          partial(0, 'cm91Z2g='),
          partial(1, 'YmV0dGVy'),
          done(0, { ...item, status: 'completed', result: 'd2hvbGU=' }),
          ...openaiText(1, 'A cat.'),
        ),
      ],
    })
    await tab.chat.sendMessage({ text: 'Draw a cat' })
    expect(tab.chat.error).toBeUndefined()
    expect(tab.messages()).toEqual(await page())
    expect([...callsOf(await turn())]).toMatchObject([
      { state: 'succeeded', output: { value: { result: 'd2hvbGU=' } } },
    ])
    expect(holdfast.metrics().ignoredEnds).toBe(0)
    expect(textOf(await turn())).toEqual(['A cat.'])
  })

  it('[CL2 ST3] search and run code beside a tool of ours, and are told so in the next step', async () => {
    const search = { type: 'web_search_call', id: 'ws_1', status: 'completed' }
    const code = { type: 'code_interpreter_call', id: 'ci_1', container_id: 'cntr_1' }
    const own = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'add' }
    const { tab, page, turn, bodies } = await startToolServer({
      model: responses,
      tools: {
        web_search: openai.tools.webSearch({}),
        code_interpreter: openai.tools.codeInterpreter({}),
        add: tool({
          inputSchema: z.object({ left: z.number(), right: z.number() }),
          execute: ({ left, right }) => left + right,
        }),
      },
      replies: [
        openaiAnswer(
          added(0, { ...search, status: 'in_progress' }),
          done(0, { ...search, action: { type: 'search', query: 'numbers', sources: [] } }),
          added(1, { ...code, status: 'in_progress', code: null, outputs: null }),
          {
            type: 'response.code_interpreter_call_code.delta',
            item_id: 'ci_1',
            output_index: 1,
            delta: 'print(1)',
          },
          {
            type: 'response.code_interpreter_call_code.done',
            item_id: 'ci_1',
            output_index: 1,
            code: 'print(1)',
          },
          done(1, {
            ...code,
            status: 'completed',
            code: 'print(1)',
            outputs: [{ type: 'logs', logs: '1' }],
          }),
          added(2, { ...own, arguments: '', status: 'in_progress' }),
          done(2, { ...own, arguments: '{"left":1,"right":2}', status: 'completed' }),
        ),
        openaiAnswer(...openaiText(0, 'Three.')),
      ],
    })
    await tab.chat.sendMessage({ text: 'Add' })
    expect(tab.chat.error).toBeUndefined()
    expect(tab.messages()).toEqual(await page())
    expect([...callsOf(await turn())].map(({ name, state }) => [name, state])).toEqual([
      ['web_search', 'succeeded'],
      ['code_interpreter', 'succeeded'],
      ['add', 'succeeded'],
    ])
    expect(bodies()[1]?.input).toMatchObject([
      { role: 'user' },
      { type: 'item_reference', id: 'ws_1' },
      { type: 'item_reference', id: 'ci_1' },
      { type: 'function_call', call_id: 'call_1', name: 'add' },
      { type: 'function_call_output', call_id: 'call_1', output: '3' },
    ])
  })

  it('[AP1 AP5] ask for approval of an MCP call, and go on with the answer', async () => {
    const request = {
      type: 'mcp_approval_request',
      id: 'mcpr_1',
      server_label: 'shop',
      name: 'pay',
      arguments: '{"amount":5}',
    }
    const call = {
      type: 'mcp_call',
      id: 'mcp_1',
      status: 'completed',
      server_label: 'shop',
      name: 'pay',
      arguments: '{"amount":5}',
      output: 'paid',
      approval_request_id: 'mcpr_1',
    }
    const { tab, page, turn, bodies } = await startToolServer({
      model: responses,
      tools: {
        mcp: openai.tools.mcp({
          serverLabel: 'shop',
          serverUrl: 'https://shop.example/mcp',
          requireApproval: 'always',
        }),
      },
      replies: [
        openaiAnswer(added(0, request), done(0, request)),
        openaiAnswer(added(0, call), done(0, call), ...openaiText(1, 'Paid.')),
      ],
    })
    await tab.chat.sendMessage({ text: 'Pay' })
    expect(tab.chat.error).toBeUndefined()
    expect(tab.messages()).toEqual(await page())
    const waiting = await turn()
    expect(waiting.progress).toEqual({ status: 'waiting', waitingFor: 'approval' })
    expect([...callsOf(waiting)]).toMatchObject([{ name: 'mcp.pay', state: 'awaiting-approval' }])
    const part = tab.messages().at(-1)?.parts.at(-1) as { approval: { id: string } }
    await tab.chat.addToolApprovalResponse({ id: part.approval.id, approved: true })
    await tab.idle()
    expect(tab.chat.error).toBeUndefined()
    expect(tab.messages()).toEqual(await page())
    expect([...callsOf(await turn())]).toMatchObject([{ name: 'mcp.pay', state: 'succeeded' }])
    expect(bodies()[1]?.input).toMatchObject([
      { role: 'user' },
      { type: 'item_reference', id: 'mcpr_1' },
      { type: 'mcp_approval_response', approval_request_id: 'mcpr_1', approve: true },
    ])
  })
})
