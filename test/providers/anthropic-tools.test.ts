import { createAnthropic } from '@ai-sdk/anthropic'
import { tool } from 'ai'
import { callsOf } from 'holdfast'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { startToolServer } from './tool-server.ts'

const anthropic = createAnthropic({ apiKey: 'key' })
const messages = (baseURL: string) =>
  createAnthropic({ apiKey: 'key', baseURL })('claude-sonnet-4-5')
const claudeAnswer = (stop_reason: string, ...blocks: readonly object[]) => [
  {
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  },
  ...blocks.flatMap((content_block, index) => blockEvents(content_block, index)),
  {
    type: 'message_delta',
    delta: { stop_reason, stop_sequence: null },
    usage: { output_tokens: 1 },
  },
  { type: 'message_stop' },
]
const blockEvents = (block: object, index: number): readonly object[] => {
  const { delta, ...content_block } = block as { readonly delta?: object }
  return [
    { type: 'content_block_start', index, content_block },
    ...(delta === undefined ? [] : [{ type: 'content_block_delta', index, delta }]),
    { type: 'content_block_stop', index },
  ]
}
const claudeText = (text: string) => ({
  type: 'text',
  text: '',
  delta: { type: 'text_delta', text },
})
const used = (type: 'server_tool_use' | 'tool_use', id: string, name: string, input: object) => ({
  type,
  id,
  name,
  input: {},
  delta: { type: 'input_json_delta', partial_json: JSON.stringify(input) },
})

describe('tools that Anthropic runs', () => {
  it('[CL3 ST3 FD1] pause the turn in a search and give its result in the next step', async () => {
    const hit = {
      type: 'web_search_result',
      url: 'https://example.com/',
      title: 'Example',
      encrypted_content: 'abc',
      page_age: null,
    }
    const { tab, page, turn, bodies } = await startToolServer({
      model: messages,
      tools: { web_search: anthropic.tools.webSearch_20250305({}) },
      replies: [
        claudeAnswer(
          'pause_turn',
          claudeText('Searching.'),
          used('server_tool_use', 'srvtoolu_1', 'web_search', { query: 'x' }),
        ),
        claudeAnswer(
          'end_turn',
          { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [hit] },
          claudeText('Found.'),
        ),
        claudeAnswer('end_turn', claudeText('Welcome.')),
      ],
    })
    await tab.chat.sendMessage({ text: 'Search' })
    expect(tab.chat.error).toBeUndefined()
    expect(tab.messages()).toEqual(await page())
    expect([...callsOf(await turn())]).toMatchObject([{ name: 'web_search', state: 'succeeded' }])
    const first = [
      { role: 'user' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Searching.' },
          { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } },
        ],
      },
    ]
    expect(bodies()[1]?.messages).toMatchObject(first)
    await tab.chat.sendMessage({ text: 'Thanks' })
    expect(tab.messages()).toEqual(await page())
    expect(bodies()[2]?.messages).toMatchObject([
      { role: 'user' },
      {
        role: 'assistant',
        content: [
          { type: 'text' },
          { type: 'server_tool_use', id: 'srvtoolu_1' },
          { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1' },
          { type: 'text', text: 'Found.' },
        ],
      },
      { role: 'user' },
    ])
  })

  it('[CL3 ST3 FD1] run code that calls a tool of ours, and end when that is answered', async () => {
    const { tab, page, turn, bodies } = await startToolServer({
      model: messages,
      tools: {
        code_execution: anthropic.tools.codeExecution_20250825(),
        weather: tool({
          inputSchema: z.object({ city: z.string() }),
          execute: () => 'sunny',
          providerOptions: { anthropic: { allowedCallers: ['code_execution_20250825'] } },
        }),
      },
      replies: [
        claudeAnswer(
          'tool_use',
          used('server_tool_use', 'srvtoolu_2', 'code_execution', { code: 'weather("Oslo")' }),
          {
            ...used('tool_use', 'toolu_1', 'weather', { city: 'Oslo' }),
            caller: { type: 'code_execution_20250825', tool_id: 'srvtoolu_2' },
          },
        ),
        claudeAnswer(
          'end_turn',
          {
            type: 'code_execution_tool_result',
            tool_use_id: 'srvtoolu_2',
            content: {
              type: 'code_execution_result',
              stdout: 'sunny',
              stderr: '',
              return_code: 0,
              content: [],
            },
          },
          claudeText('It is sunny.'),
        ),
      ],
    })
    await tab.chat.sendMessage({ text: 'Weather?' })
    expect(tab.chat.error).toBeUndefined()
    expect(tab.messages()).toEqual(await page())
    expect([...callsOf(await turn())].map(({ name, state }) => [name, state])).toEqual([
      ['code_execution', 'succeeded'],
      ['weather', 'succeeded'],
    ])
    expect(bodies()[1]?.messages).toMatchObject([
      { role: 'user' },
      {
        role: 'assistant',
        content: [
          { type: 'server_tool_use', id: 'srvtoolu_2', name: 'code_execution' },
          { type: 'tool_use', id: 'toolu_1' },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1' }] },
    ])
  })

  it('[CL2] say that a search failed, and the answer goes on', async () => {
    const { tab, page, turn, bodies } = await startToolServer({
      model: messages,
      tools: { web_search: anthropic.tools.webSearch_20250305({}) },
      replies: [
        claudeAnswer(
          'end_turn',
          used('server_tool_use', 'srvtoolu_1', 'web_search', { query: 'x' }),
          {
            type: 'web_search_tool_result',
            tool_use_id: 'srvtoolu_1',
            content: { type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' },
          },
          claudeText('I could not search.'),
        ),
        claudeAnswer('end_turn', claudeText('Sorry.')),
      ],
    })
    await tab.chat.sendMessage({ text: 'Search' })
    expect(tab.chat.error).toBeUndefined()
    expect(tab.messages()).toEqual(await page())
    expect([...callsOf(await turn())]).toMatchObject([
      {
        state: 'failed',
        modelError: '{"type":"web_search_tool_result_error","errorCode":"max_uses_exceeded"}',
      },
    ])
    await tab.chat.sendMessage({ text: 'Really?' })
    expect(bodies()[1]?.messages).toMatchObject([
      { role: 'user' },
      {
        role: 'assistant',
        content: [
          { type: 'server_tool_use' },
          {
            type: 'web_search_tool_result',
            content: { type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' },
          },
          { type: 'text' },
        ],
      },
      { role: 'user' },
    ])
  })
})
