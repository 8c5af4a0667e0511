import type { JsonObject } from '../core/json.ts'
import { withDefined } from '../core/with-defined.ts'
import { idOf, objectOf, stepOf, textOf, valueOf } from './old-fields.ts'
import type { OldCall } from './old-message.ts'
import { readArguments } from './read-arguments.ts'
import { readResultValue, type ResultMarks } from './read-result-value.ts'
import { readToolName } from './read-tool-name.ts'

export interface InvocationContext {
  readonly marksOf: (toolCallId: string | undefined) => ResultMarks
  /** Written by `projectVercelMessage`, which never writes arguments as JSON text. */
  readonly isExact: boolean
  readonly at: number
}

/** Of messages that nobody annotated. */
export const plainContext = (at: number): InvocationContext => ({
  marksOf: () => ({}),
  isExact: false,
  at,
})

/** A tool invocation of AI SDK 3 and 4: from a part, or from the older `toolInvocations`. */
export function readToolInvocation(
  invocation: JsonObject,
  { marksOf, isExact, at }: InvocationContext,
): OldCall {
  const id = idOf(invocation, 'toolCallId')
  const marks = marksOf(id)
  const state = textOf(invocation, 'state')
  const args = valueOf(invocation, 'args', 'input')
  const hasResult = Object.hasOwn(invocation, 'result')
  const isWhole = state !== 'partial-call' || hasResult
  const base = withDefined(
    {
      type: 'call',
      name: readToolName(invocation),
      input: isWhole
        ? readArguments(args, isExact)
        : ({
            kind: 'partial',
            text: typeof args === 'string' ? args : textOfPartial(args),
          } as const),
    } as const,
    {
      id,
      step: stepOf(invocation),
      // These only in a model message.
      providerExecuted: invocation.providerExecuted === true ? (true as const) : undefined,
      providerMetadata: objectOf(invocation, 'providerMetadata', 'providerOptions'),
    },
  )
  if (state === 'result' || hasResult || marks.validated === 'rejected') {
    return { ...base, ...readResultValue(invocation.result, marks, at) }
  }
  if (marks.validated === 'pending') return { ...base, outcome: 'waiting' }
  return marks.validated === 'accepted'
    ? { ...base, outcome: 'open', decision: { kind: 'accepted' } }
    : { ...base, outcome: 'open' }
}

const textOfPartial = (args: unknown): string => (args === undefined ? '' : JSON.stringify(args))
