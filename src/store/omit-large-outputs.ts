import type { Message, Part } from '../core/message.ts'
import { lazyBytes, type ResultMode } from './store.ts'

/** For stores that hold values, not text: what a database does by not selecting the column (PG7). */
export function omitLargeOutputs(message: Message, results: ResultMode): Message {
  if (results === 'full' || message.role !== 'assistant') return message
  const omit = (part: Part): Part => {
    if (part.type !== 'call' || part.state !== 'succeeded' || part.output.kind === 'omitted') {
      return part
    }
    const bytes = new TextEncoder().encode(JSON.stringify(part.output.value)).length
    if (bytes <= lazyBytes) return part
    const { modelOutput, ...rest } = part
    return { ...rest, output: { kind: 'omitted', bytes } }
  }
  return {
    ...message,
    steps: message.steps.map((step) => ({ ...step, parts: step.parts.map(omit) })),
  }
}
