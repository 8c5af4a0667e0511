import type { JsonObject } from '../core/json.ts'
import { idOf, objectOf, valueOf } from './old-fields.ts'
import type { OldCall } from './old-message.ts'
import { readArguments } from './read-arguments.ts'
import { readToolName } from './read-tool-name.ts'

/**
 * Which tool was called, with what, by whatever names. OpenAI has both in `function`. `exact`: we wrote
 * it ourselves, and arguments that are text are not the JSON of something else.
 */
export function readCallHead(
  call: JsonObject,
  exact = false,
): Pick<OldCall, 'type' | 'id' | 'name' | 'input'> {
  const named = objectOf(call, 'function') ?? call
  const id = idOf(call, 'id', 'toolCallId', 'tool_call_id')
  const args = valueOf(named, 'args', 'arguments', 'input')
  const head = {
    type: 'call',
    name: readToolName(named),
    input: readArguments(args, exact),
  } as const
  return id === undefined ? head : { ...head, id }
}
