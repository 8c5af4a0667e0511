import type { Json } from '../core/json.ts'
import { mergeRepeatedCalls } from './merge-repeated-calls.ts'
import type { MessagePart, Mend } from './old-message.ts'
import { readPart } from './read-part.ts'
import type { InvocationContext } from './read-tool-invocation.ts'
import { findOpenCall } from './read-tool-result.ts'

/** The parts of an assistant message. One that cannot be read is left out and said so. */
export function readParts(
  values: readonly Json[],
  context: InvocationContext,
  mend: Mend,
): readonly MessagePart[] {
  const parts: MessagePart[] = []
  for (const [index, value] of values.entries()) {
    const part = readPart(value, context)
    if (part.type === 'unreadable') mend(`parts[${index}]: ${part.why}: it was left out.`)
    else if (part.type !== 'answer') parts.push(part)
    else {
      const at = findOpenCall(parts, part.callId)
      const call = parts[at]
      if (call === undefined) mend(`parts[${index}]: A result has no call: it was left out.`)
      else parts[at] = { ...call, ...part.end }
    }
  }
  return mergeRepeatedCalls(parts, mend)
}
