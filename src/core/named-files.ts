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
export function* filesInPart(part: UserPart | Part): Generator<FileId> {
  switch (part.type) {
    case 'file':
    case 'reasoning-file':
    case 'source-url': {
      const id = fileIdOf(part.url)
      if (id !== undefined) yield id
      break
    }
    case 'steering':
      for (const own of part.parts) yield* filesInPart(own)
      break
    case 'data':
      yield* filesInJson(part.data)
      break
    case 'call':
      yield* filesInCall(part)
      break
    default:
      break
  }
}

function* filesInCall(call: Call): Generator<FileId> {
  if (call.input.kind === 'complete') yield* filesInJson(call.input.value)
  if (call.state === 'succeeded') yield* filesInOutput(call.output)
}

function* filesInOutput(output: CallOutput): Generator<FileId> {
  if (output.kind === 'inline') yield* filesInJson(output.value)
}

/** False: no value with this JSON text refers to a file. Much cheaper than looking at all its strings. */
export const mayNameFiles = (text: string): boolean => text.includes('/api/files/file_')

/** The files whose addresses are strings in a value, at any depth. */
export function* filesInJson(value: Json): Generator<FileId> {
  // No recursion: a value from outside may be deeper than the stack.
  const open: Json[] = [value]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === 'string') {
      const id = fileIdOf(next)
      if (id !== undefined) yield id
    } else if (typeof next === 'object' && next !== null) {
      for (const own of Object.values(next)) open.push(own)
    }
  }
}

/** The files that a message refers to. */
export function* filesInMessage(
  message: Message | TurnCopy | { readonly parts: readonly UserPart[] },
): Generator<FileId> {
  const parts = 'steps' in message ? message.steps.flatMap((step) => step.parts) : message.parts
  for (const part of parts) yield* filesInPart(part)
}

/** The files that the messages of a thread refer to from this event on. */
export function* filesInEvent(event: NewEvent): Generator<FileId> {
  switch (event.type) {
    case 'message-added':
    case 'input-joined':
      yield* filesInMessage(event)
      break
    // A queued input keeps its files from the moment on at which it waits.
    case 'input-queued':
      yield* filesInMessage(event.input)
      break
    case 'input-revised':
      yield* filesInMessage({ parts: event.parts ?? [] })
      break
    case 'item-added':
      yield* filesInPart(event.item)
      break
    case 'call-recorded':
    case 'call-revised':
      yield* filesInJson(event.input)
      break
    case 'call-decided':
      if (event.editedInput !== undefined) yield* filesInJson(event.editedInput)
      break
    case 'call-settled':
      if (event.outcome.state === 'succeeded') yield* filesInOutput(event.outcome.output)
      break
    case 'call-resolved':
      if (event.output !== undefined) yield* filesInOutput(event.output)
      break
    // A copied turn refers to the files of its origin, or deleting the origin would delete them.
    case 'turn-copied':
      yield* filesInMessage(event.turn)
      break
    default:
      break
  }
}
