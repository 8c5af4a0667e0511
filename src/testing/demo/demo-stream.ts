import { type Clock, wait } from '../../engine/clock.ts'
import type { Json } from '../../core/json.ts'
import type { DemoLanguageModel } from './demo-prompt.ts'

/** What the demo model does in one step, in order. */
export type DemoSaying =
  | { readonly text: string }
  | { readonly call: string; readonly input: Json }
  /** Arguments that never become whole. */
  | { readonly call: string; readonly cutInput: string }
  | { readonly fails: string }

type StreamResult = Awaited<ReturnType<DemoLanguageModel['doStream']>>
export type DemoPart = StreamResult['stream'] extends ReadableStream<infer Part> ? Part : never
export type DemoFinish = Extract<DemoPart, { readonly type: 'finish' }>

export interface DemoPace {
  readonly clock: Clock
  readonly delayMs: number
  readonly signal: AbortSignal | undefined
}

/** The parts of a stream, with a pause before each piece of text or arguments. */
export async function* speak(
  sayings: readonly DemoSaying[],
  callsBefore: number,
  finish: DemoFinish,
  pace: DemoPace,
): AsyncGenerator<DemoPart> {
  yield { type: 'stream-start', warnings: [] }
  let calls = callsBefore
  for (const [place, saying] of sayings.entries()) {
    if ('fails' in saying) {
      yield { type: 'error', error: Object.assign(new Error(saying.fails), { statusCode: 500 }) }
      return
    }
    const parts =
      'text' in saying ? textParts(`text-${place}`, saying.text) : callParts(saying, ++calls)
    for (const part of parts) {
      if ('delta' in part && pace.delayMs > 0) await wait(pace.clock, pace.delayMs, pace.signal)
      yield part
    }
  }
  yield finish
}

function* textParts(id: string, text: string): Generator<DemoPart> {
  yield { type: 'text-start', id }
  for (const delta of text.match(/\s*\S+\s*/g) ?? []) yield { type: 'text-delta', id, delta }
  yield { type: 'text-end', id }
}

export const callIdOf = (number: number): string => `demo_call_${number}`

function* callParts(
  saying: Extract<DemoSaying, { readonly call: string }>,
  number: number,
): Generator<DemoPart> {
  const id = callIdOf(number)
  const { call: toolName } = saying
  yield { type: 'tool-input-start', id, toolName }
  if ('cutInput' in saying) {
    yield { type: 'tool-input-delta', id, delta: saying.cutInput }
    return
  }
  const input = JSON.stringify(saying.input)
  const half = Math.ceil(input.length / 2)
  yield { type: 'tool-input-delta', id, delta: input.slice(0, half) }
  yield { type: 'tool-input-delta', id, delta: input.slice(half) }
  yield { type: 'tool-input-end', id }
  yield { type: 'tool-call', toolCallId: id, toolName, input }
}

export function toStream(
  parts: AsyncGenerator<DemoPart>,
  signal: AbortSignal | undefined,
): ReadableStream<DemoPart> {
  return new ReadableStream({
    async pull(controller) {
      const next = await parts.next()
      if (signal?.aborted === true) controller.error(signal.reason)
      else if (next.done === true) controller.close()
      else controller.enqueue(next.value)
    },
    async cancel() {
      await parts.return(undefined)
    },
  })
}
