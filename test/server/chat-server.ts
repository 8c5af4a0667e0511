import { type LanguageModel, tool, type ToolSet } from 'ai'
import { createHoldfast, type Holdfast, type HoldfastOptions, memory } from 'holdfast'
import { createHandler, type HandlerOptions, listen } from 'holdfast/server'
import { type ScriptedCall, type ScriptPart, scriptedModel } from 'holdfast/testing'
import { onTestFinished } from 'vitest'
import { z } from 'zod'
import { type FollowerWatch, watchFollowers } from './watch-followers.ts'

export interface ChatServer {
  readonly url: string
  readonly holdfast: Holdfast
  /** What each model call was sent. */
  readonly calls: readonly ScriptedCall[]
  /** The names of tools that ran, in order. */
  readonly ran: readonly string[]
  /** Who follows threads over this server. */
  readonly followers: FollowerWatch
}

export type Script = (text: string, step: number, call: ScriptedCall) => readonly ScriptPart[]

export interface ChatServerOptions extends Partial<HoldfastOptions> {
  readonly handler?: HandlerOptions
  readonly stallMs?: number
  readonly wrapModel?: (model: LanguageModel) => LanguageModel
}

/** A server on a real port, answering with what the script says to the last user's text. */
export async function startChatServer(
  script: Script,
  options: ChatServerOptions = {},
): Promise<ChatServer> {
  const { handler, stallMs, wrapModel = (model) => model, ...engine } = options
  const calls: ScriptedCall[] = []
  const ran: string[] = []
  const model = scriptedModel((call) => script(lastText(call), stepOf(call), call), {
    onCall: (call) => calls.push(call),
  })
  const holdfast = createHoldfast({
    model: wrapModel(model),
    tools: createTools(ran),
    recoverEveryMs: 0,
    textDelayMs: 1,
    store: memory(),
    ...engine,
  })
  const followers = watchFollowers(holdfast)
  const listening = await listen(createHandler(followers.holdfast, handler), {
    port: 0,
    host: '127.0.0.1',
    ...(stallMs === undefined ? {} : { stallMs }),
  })
  onTestFinished(async () => {
    await listening.close()
    await holdfast.close()
  })
  return { url: listening.url, holdfast, calls, ran, followers }
}

function createTools(ran: string[]): ToolSet {
  const runs = (name: string) => void ran.push(name)
  return {
    weather: tool({
      inputSchema: z.object({ city: z.string() }),
      execute({ city }) {
        runs('weather')
        return { city, tempC: 20 }
      },
    }),
    boom: tool({
      inputSchema: z.object({}),
      execute(): string {
        runs('boom')
        throw new Error('kaput')
      },
    }),
    remove: tool({
      inputSchema: z.object({ path: z.string() }),
      needsApproval: true,
      execute({ path }) {
        runs('remove')
        return { removed: path }
      },
    }),
    // Hangs until it is told to stop.
    hang: tool({
      inputSchema: z.object({}),
      execute: (_, { abortSignal }) =>
        new Promise<string>((_resolve, reject) => {
          runs('hang')
          abortSignal?.addEventListener('abort', () => reject(new Error('told to stop')))
        }),
    }),
    steps: tool({
      inputSchema: z.object({}),
      async *execute() {
        runs('steps')
        yield { percent: 10 }
        yield { percent: 100 }
      },
    }),
    // Run by the client.
    ask: tool({ inputSchema: z.object({ question: z.string() }) }),
  }
}

function lastText({ prompt }: ScriptedCall): string {
  const content = prompt.findLast(({ role }) => role === 'user')?.content
  const parts = Array.isArray(content) ? (content as { text?: string }[]) : []
  return parts.map(({ text }) => text ?? '').join('')
}

/** How many steps of this turn the model has already taken. */
function stepOf({ prompt }: ScriptedCall): number {
  const from = prompt.findLastIndex(({ role }) => role === 'user')
  return prompt.slice(from).filter(({ role }) => role === 'assistant').length
}
