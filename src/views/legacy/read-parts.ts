import type { Json } from '../../core/json.ts'
import { mergeRepeatedCalls } from './merge-repeated-calls.ts'
import type { Mend } from './old-message.ts'
import { type ReadPart, readPart } from './read-part.ts'
import type { InvocationContext } from './read-tool-invocation.ts'

/** The parts of an assistant message. One that cannot be read is left out and said so. */
export function readParts(
  parts: readonly Json[],
  context: InvocationContext,
  mend: Mend,
): readonly ReadPart[] {
  const read = parts.map((part, index) => {
    const result = readPart(part, context)
    if (result.type === 'unreadable') mend(`parts[${index}]: ${result.why}: it was left out.`)
    return result
  })
  return mergeRepeatedCalls(read, mend)
}
