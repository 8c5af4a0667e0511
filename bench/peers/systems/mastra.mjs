import { Agent } from '@mastra/core/agent'
import { Mastra } from '@mastra/core/mastra'
import { createTool } from '@mastra/core/tools'
import { LibSQLStore } from '@mastra/libsql'
import { Memory } from '@mastra/memory'
import { z } from 'zod'
import { model, question, show, takeNote, toolDescription, toolName } from '../script.mjs'

/** Mastra's agent with its memory in LibSQL, saved after each step (`savePerStep`), which is more than its default. */
export async function open(address) {
  const storage = new LibSQLStore({ id: 'peers', url: `file:${address}.db` })
  const memory = new Memory({ storage, options: { lastMessages: 20 } })
  const noteTool = createTool({
    id: toolName,
    description: toolDescription,
    inputSchema: z.object({ text: z.string() }),
    execute: takeNote,
  })
  const agent = new Agent({
    id: 'peers',
    name: 'peers',
    instructions: 'Be brief.',
    model,
    tools: { [toolName]: noteTool },
    memory,
  })
  new Mastra({ agents: { peers: agent }, storage, logger: false })
  return {
    async ask(threadId) {
      const result = await agent.stream(question, {
        memory: { thread: threadId, resource: 'peers' },
        savePerStep: true,
        maxSteps: 5,
      })
      for await (const { type, payload } of result.fullStream) {
        if (type === 'text-delta') show({ kind: 'text', text: payload.text })
        else if (type === 'tool-call') show({ kind: 'call', id: payload.toolCallId })
        else if (type === 'tool-result') show({ kind: 'result', id: payload.toolCallId })
      }
    },
    async recover() {},
    async read(threadId) {
      const { messages } = await memory
        .recall({ threadId, resourceId: 'peers' })
        .catch(() => ({ messages: [] }))
      const parts = messages
        .filter(({ role }) => role === 'assistant')
        .flatMap(({ content }) => content.parts)
      return {
        hasQuestion: messages.some(({ role }) => role === 'user'),
        text: parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
        calls: parts
          .filter(({ type }) => type === 'tool-invocation')
          .map(({ toolInvocation: { toolCallId, state } }) => ({
            id: toolCallId,
            state: state === 'result' ? 'done' : 'open',
          })),
      }
    },
    async close() {},
  }
}
