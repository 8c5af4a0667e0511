import {
  createUIMessageStreamResponse,
  isStepCount,
  streamText,
  tool,
  toUIMessageStream,
  type UIMessage,
} from 'ai'
import { createHoldfast, type Store } from 'holdfast'
import { createHandler } from 'holdfast/server'
import { type ScriptPart, scriptedModel } from 'holdfast/testing'
import { z } from 'zod'

const steps = 5
const callsPerStep = 10
export const calls = steps * callsPerStep
const result = { text: 'x'.repeat(1_000) }
const words = (count: number): ScriptPart => ({ text: 'words '.repeat(count), pieces: count })

const tools = {
  search: tool({ inputSchema: z.object({ q: z.string() }), execute: () => result }),
}

/** Five steps of ten parallel calls with 20 deltas before each, then 200 deltas. */
const model = () =>
  scriptedModel(({ prompt }) => {
    const done = prompt.filter(({ role }) => role === 'tool').length
    if (done >= steps) return [words(200)]
    const calls = Array.from({ length: callsPerStep }, (_, index) => ({
      call: 'search',
      input: { q: `${done}-${index}` },
      streamed: true,
    }))
    return [words(20), ...calls]
  })

/** What the SDK takes to stream the turn to a client and store nothing. */
export async function bareTurn(
  onEnd?: (messages: readonly UIMessage[]) => Promise<void>,
): Promise<void> {
  const { stream } = streamText({
    model: model(),
    tools,
    stopWhen: isStepCount(steps + 1),
    prompt: 'go',
  })
  const response = createUIMessageStreamResponse({
    stream: toUIMessageStream({
      stream,
      ...(onEnd === undefined ? {} : { onEnd: ({ messages }) => onEnd(messages) }),
    }),
  })
  check(await response.text())
}

function check(text: string): void {
  const outputs = text.split('"tool-output-available"').length - 1
  if (outputs !== steps * callsPerStep || !text.endsWith('data: [DONE]\n\n')) {
    throw new Error(`not the whole turn: ${outputs} results`)
  }
}

export function holdfastTurn(store: Store): {
  readonly run: () => Promise<void>
  commits: () => number
} {
  const holdfast = createHoldfast({ store, model: model(), tools, recoverEveryMs: 0 })
  const handler = createHandler(holdfast)
  let sent = 0
  return {
    commits: () => holdfast.metrics().commits,
    async run() {
      const id = `bench-${++sent}`
      const message = { id: `u-${sent}`, role: 'user', parts: [{ type: 'text', text: 'go' }] }
      const response = await handler(
        new Request('http://localhost/api/chat', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ id, messages: [message], trigger: 'submit-message' }),
        }),
      )
      check(await response.text())
    },
  }
}
