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
import { type BenchEngine, openEngines } from './engines.ts'
import { measure, ms, printTable, type Row } from './measure.ts'

const steps = 5
const callsPerStep = 10
const result = { text: 'x'.repeat(1_000) }
const words = (count: number): ScriptPart => ({ text: 'words '.repeat(count), pieces: count })

export const tools = {
  search: tool({ inputSchema: z.object({ q: z.string() }), execute: () => result }),
}

/** Five steps of ten parallel calls with 20 deltas before each, then 200 deltas. */
export const model = () =>
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

export async function benchTurn(): Promise<void> {
  const engines = await openEngines()
  const rows: Row[] = []
  for (const engine of engines) {
    rows.push(...(await benchOne(engine)))
    await engine.close()
  }
  printTable('Turn: 50 tool calls in 5 steps, streamed to a client', rows)
}

async function benchOne(engine: BenchEngine): Promise<readonly Row[]> {
  const ours = holdfastTurn(engine.store)
  let seq = 0
  const rounds = 40
  const warmUps = 20
  const [floor, atEnd, durable] = await measure(
    [
      { name: 'bare', run: () => bareTurn() },
      {
        name: 'save at end',
        run: () =>
          bareTurn((messages) =>
            engine.raw.insert([{ thread: 'turn', seq: ++seq, body: JSON.stringify(messages) }]),
          ),
      },
      { name: 'holdfast', run: ours.run },
    ],
    rounds,
    warmUps,
  )
  const time = (measured: typeof floor) => measured?.medianMs ?? 0
  const bar = engine.name === 'SQLite' ? 0.6 : 1
  const perCall = (time(durable) - time(floor)) / (steps * callsPerStep)
  return [
    { what: `${engine.name}: bare streamText, nothing stored`, measured: ms(time(floor)) },
    {
      what: `${engine.name}: streamText, saved at the end`,
      measured: ms(time(atEnd)),
      ratio: time(atEnd) / time(floor),
    },
    {
      what: `${engine.name}: Holdfast, every fact durable before it is shown`,
      measured: `${ms(time(durable))}, ${Math.round(ours.commits() / (rounds + warmUps))} commits`,
      ratio: time(durable) / time(floor),
      bar,
    },
    {
      what: `${engine.name}: cost of a tool call above the floor`,
      measured: `${perCall.toFixed(2)} ms`,
    },
  ]
}
