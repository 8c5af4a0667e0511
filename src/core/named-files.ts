import type { Call, CallOutput } from './call.ts'
import type { NewEvent } from './event.ts'
import { type FileId, fileIdOf } from './file.ts'
import type { Json } from './json.ts'
import type { Message, Part, TurnCopy, UserPart } from './message.ts'

/**
 * The files that a part refers to (FL2): by the URL of a file or a source, or as a whole string in the arguments or the
 * result of a call or in the host's data, where cards take addresses from. Words of a text never refer to a file, whatever
 * they look like: whoever writes them would decide about files.
 */
export function filesInPart(part: UserPart | Part): readonly FileId[] {
  switch (part.type) {
    case 'file':
    case 'reasoning-file':
    case 'source-url': {
      const id = fileIdOf(part.url)
      return id === undefined ? none : [id]
    }
    case 'steering':
      return part.parts.flatMap(filesInPart)
    case 'data':
      return filesInJson(part.data)
    case 'call':
      return filesInCall(part)
    default:
      return none
  }
}

/** Nearly every event and part refers to no file. */
const none: readonly FileId[] = []

function filesInCall(call: Call): readonly FileId[] {
  const given = call.input.kind === 'complete' ? filesInJson(call.input.value) : none
  return call.state === 'succeeded' ? [...given, ...filesInOutput(call.output)] : given
}

const filesInOutput = (output: CallOutput): readonly FileId[] =>
  output.kind === 'inline' ? filesInJson(output.value) : none

/** False: no value with this JSON text refers to a file. Much cheaper than looking at all its strings. */
export const mayNameFiles = (text: string): boolean => text.includes('/api/files/file_')

/** The files whose addresses are strings in a value, at any depth. */
export function filesInJson(value: Json): readonly FileId[] {
  let ids: FileId[] | undefined
  // No recursion: a value from outside may be deeper than the stack.
  const open: Json[] = [value]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === 'string') {
      const id = fileIdOf(next)
      if (id !== undefined) (ids ??= []).push(id)
    } else if (typeof next === 'object' && next !== null) {
      for (const own of Object.values(next)) open.push(own)
    }
  }
  return ids ?? none
}

/** The files that a message refers to. */
export function filesInMessage(
  message: Message | TurnCopy | { readonly parts: readonly UserPart[] },
): readonly FileId[] {
  const parts = 'steps' in message ? message.steps.flatMap((step) => step.parts) : message.parts
  return (parts as readonly (UserPart | Part)[]).flatMap(filesInPart)
}

/** The files that the messages of a thread refer to from this event on. */
export function filesInEvent(event: NewEvent): readonly FileId[] {
  switch (event.type) {
    case 'message-added':
    case 'input-joined':
      return filesInMessage(event)
    // A queued input keeps its files from the moment on at which it waits.
    case 'input-queued':
      return filesInMessage(event.input)
    case 'input-revised':
      return filesInMessage({ parts: event.parts ?? [] })
    case 'item-added':
      return filesInPart(event.item)
    case 'call-recorded':
    case 'call-revised':
      return filesInJson(event.input)
    case 'call-decided':
      return event.editedInput === undefined ? none : filesInJson(event.editedInput)
    case 'call-settled':
      return event.outcome.state === 'succeeded' ? filesInOutput(event.outcome.output) : none
    case 'call-resolved':
      return event.output === undefined ? none : filesInOutput(event.output)
    // A copied turn refers to the files of its origin, or deleting the origin would delete them.
    case 'turn-copied':
      return filesInMessage(event.turn)
    default:
      return none
  }
}
