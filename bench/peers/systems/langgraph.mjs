import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessageChunk } from '@langchain/core/messages'
import { ChatGenerationChunk } from '@langchain/core/outputs'
import { tool } from '@langchain/core/tools'
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres'
import { createReactAgent } from '@langchain/langgraph/prebuilt'
import { z } from 'zod'
import {
  opening,
  pause,
  question,
  show,
  takeNote,
  toolDescription,
  toolInput,
  toolName,
  words,
} from '../script.mjs'

/** The same script as a chat model of LangChain. */
class ScriptModel extends BaseChatModel {
  _llmType() {
    return 'peers'
  }
  bindTools() {
    return this
  }
  async _generate(messages, options, runManager) {
    let whole
    for await (const chunk of this._streamResponseChunks(messages, options, runManager)) {
      whole = whole === undefined ? chunk : whole.concat(chunk)
    }
    return { generations: [whole] }
  }
  async *_streamResponseChunks(messages, _options, runManager) {
    const emitChunk = async (text, more = {}) => {
      const chunk = new ChatGenerationChunk({
        text,
        message: new AIMessageChunk({ content: text, ...more }),
      })
      await runManager?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, {
        chunk,
      })
      return chunk
    }
    if (messages.some((message) => message.getType() === 'tool')) {
      for (const word of words) {
        await pause(20)
        yield await emitChunk(word)
      }
      return
    }
    yield await emitChunk(opening)
    await pause(150)
    yield await emitChunk('', {
      tool_call_chunks: [
        {
          id: 'call-1',
          index: 0,
          name: toolName,
          args: JSON.stringify(toolInput),
          type: 'tool_call_chunk',
        },
      ],
    })
    await pause(150)
  }
}

/** LangGraph's own agent with its checkpoints in PostgreSQL, written before the next step begins (`durability: 'sync'`). */
export async function open(address) {
  const checkpointer = PostgresSaver.fromConnString(address)
  await checkpointer.setup()
  const noteTool = tool(takeNote, {
    name: toolName,
    description: toolDescription,
    schema: z.object({ text: z.string() }),
  })
  const agent = createReactAgent({ llm: new ScriptModel({}), tools: [noteTool], checkpointer })
  const configOf = (threadId) => ({ configurable: { thread_id: threadId }, durability: 'sync' })
  const run = async (input, threadId) => {
    const stream = await agent.stream(input, { ...configOf(threadId), streamMode: 'messages' })
    for await (const [message] of stream) {
      if (message.getType() === 'tool') show({ kind: 'result', id: message.tool_call_id })
      else {
        if (message.text !== '') show({ kind: 'text', text: message.text })
        for (const { id } of message.tool_calls ?? []) show({ kind: 'call', id })
      }
    }
  }
  return {
    ask: (threadId) => run({ messages: [{ role: 'user', content: question }] }, threadId),
    /** Nobody carries a run on by itself; this is what its documentation says to call. */
    async recover(threadId) {
      const { next } = await agent.getState(configOf(threadId))
      if (next.length > 0) await run(null, threadId)
    },
    async read(threadId) {
      const { values } = await agent.getState(configOf(threadId))
      const messages = values.messages ?? []
      const results = new Set(
        messages
          .filter((message) => message.getType() === 'tool')
          .map((message) => message.tool_call_id),
      )
      const said = messages.filter((message) => message.getType() === 'ai')
      return {
        hasQuestion: messages.some((message) => message.getType() === 'human'),
        text: said.map((message) => message.text).join(''),
        calls: said
          .flatMap((message) => message.tool_calls ?? [])
          .map(({ id }) => ({ id, state: results.has(id) ? 'done' : 'open' })),
      }
    },
    close: () => checkpointer.end(),
  }
}
