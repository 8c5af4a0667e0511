import { type CallId, type MessageId, parseCallId, parseMessageId } from '../core/ids.ts'
import type { Mend } from './old-message.ts'

const prime = 0x100000001b3n
const offset = 0xcbf29ce484222325n
const mask = 0xffffffffffffffffn

/**
 * An id for something that came without one. It depends on nothing but where the thing stands, so
 * reading the same data again gives the same id (LE5). FNV-1a, 64 bits: no secret, only a name.
 */
export function deriveId(prefix: 'msg' | 'call', ...place: readonly (string | number)[]): string {
  const text = JSON.stringify(place)
  let hash = offset
  for (let index = 0; index < text.length; index++) {
    hash = ((hash ^ BigInt(text.charCodeAt(index))) * prime) & mask
  }
  return `${prefix}_${hash.toString(16).padStart(16, '0')}`
}

/** Says of an id whether something else has it already. */
export type IsTaken = (kind: 'message' | 'call', id: string) => boolean

/** Keeps ids that are valid and free, and derives the rest from the thread and the place (LG10). */
export interface IdKeeper {
  /** `key` says which message it is, wherever it stands: a list that has grown names it the same. */
  message(old: string | undefined, key: readonly (string | number)[], mend: Mend): MessageId
  call(old: string | undefined, messageId: MessageId, place: number, mend: Mend): CallId
  /** A call that is there already has it. */
  reserveCall(id: CallId): void
}

export function createIdKeeper(threadId: string, isTaken: IsTaken = () => false): IdKeeper {
  const used = { message: new Set<string>(), call: new Set<string>() }

  const keep = (
    kind: 'message' | 'call',
    old: string | undefined,
    place: readonly (string | number)[],
    mend: Mend,
  ): string => {
    const isFree = (id: string) => !used[kind].has(id) && !isTaken(kind, id)
    const derive = (attempt: number): string => {
      const again = attempt === 0 ? [] : [attempt]
      const id = deriveId(kind === 'call' ? 'call' : 'msg', threadId, ...place, ...again)
      return isFree(id) ? id : derive(attempt + 1)
    }
    const id = old !== undefined && isValid(old) && isFree(old) ? old : derive(0)
    if (old !== undefined && id !== old) {
      // What else this import has is its own; that another thread has an id is not told, as it may be another owner's (HT2).
      const why = !isValid(old)
        ? 'is not valid'
        : used[kind].has(old)
          ? 'is in use'
          : 'was not kept'
      mend(`The ${kind} id ${JSON.stringify(old.slice(0, 80))} ${why}: it became ${id}.`)
    }
    used[kind].add(id)
    return id
  }

  return {
    message: (old, key, mend) => parseMessageId(keep('message', old, [...key, old ?? ''], mend)),
    call: (old, messageId, place, mend) => parseCallId(keep('call', old, [messageId, place], mend)),
    reserveCall: (id) => used.call.add(id),
  }
}

function isValid(id: string): boolean {
  try {
    parseCallId(id)
    return true
  } catch {
    // The rule for ids has one home, and it says no by throwing.
    return false
  }
}
