import { type Clock, wait } from '../engine/clock.ts'
import type { Json } from '../core/json.ts'
import type { DemoLanguageModel } from './demo-prompt.ts'

/** What the demo model does in one step, in order. */
export type DemoUtterance =
  | { readonly text: string }
  | { readonly call: string; readonly input: Json }
  /** Arguments that never become complete. */
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
export async function* streamUtterances(
  utterances: readonly DemoUtterance[],
  callsBefore: number,
  finish: DemoFinish,
  pace: DemoPace,
): AsyncGenerator<DemoPart> {
  yield { type: 'stream-start', warnings: [] }
  let calls = callsBefore
  for (const [place, utterance] of utterances.entries()) {
    if ('fails' in utterance) {
      yield { type: 'error', error: Object.assign(new Error(utterance.fails), { statusCode: 500 }) }
      return
    }
    const parts =
      'text' in utterance
        ? textParts(`text-${place}`, utterance.text)
        : callParts(utterance, ++calls)
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
  utterance: Extract<DemoUtterance, { readonly call: string }>,
  number: number,
): Generator<DemoPart> {
  const id = callIdOf(number)
  const { call: toolName } = utterance
  yield { type: 'tool-input-start', id, toolName }
  if ('cutInput' in utterance) {
    yield { type: 'tool-input-delta', id, delta: utterance.cutInput }
    return
  }
  const input = JSON.stringify(utterance.input)
  for (const delta of toPieces(input)) yield { type: 'tool-input-delta', id, delta }
  yield { type: 'tool-input-end', id }
  yield { type: 'tool-call', toolCallId: id, toolName, input }
}

const shortInput = 80

/** Short arguments come in two pieces; long ones word by word, so that a card can be seen growing. */
function toPieces(input: string): readonly string[] {
  const half = Math.ceil(input.length / 2)
  if (input.length <= shortInput) return [input.slice(0, half), input.slice(half)]
  return input.match(/\s*\S+/g) ?? [input]
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
