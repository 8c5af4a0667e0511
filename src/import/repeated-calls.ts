import { isJsonObject, type Json } from '../core/json.ts'
import type { PausableWork } from '../core/pausable-work.ts'
import { hasEnded, type MessagePart, type OldCall, type ReportMend } from './old-message.ts'

/**
 * A call that occurs twice in a message is one call, and the last occurrence counts (CD5), unless it had
 * ended before: an end stays (CL2). Some providers give two calls one id: those differ in name, or in
 * arguments that are both complete.
 */
export function* mergeRepeatedCalls<Part extends MessagePart>(
  parts: readonly Part[],
  mend: ReportMend,
): PausableWork<readonly Part[]> {
  const merged: Part[] = []
  /** By id and name. Most ids occur once: then the place is all that has to be known. */
  const groups = new Map<string, number | CallGroup>()
  for (const part of parts) {
    yield
    if (part.type !== 'call' || part.id === undefined) {
      merged.push(part)
      continue
    }
    // With the length, because both may contain any character.
    const key = `${part.id.length} ${part.id} ${part.name}`
    const known = groups.get(key)
    if (known === undefined) {
      groups.set(key, merged.length)
      merged.push(part)
      continue
    }
    const group = typeof known === 'number' ? createGroup(known, merged[known] as OldCall) : known
    groups.set(key, group)
    const at = group.find(part)
    if (at === undefined) {
      group.put(merged.length, part)
      merged.push(part)
      continue
    }
    const reopensCall = !hasEnded(part) && hasEnded(merged[at] as OldCall)
    const which = reopensCall ? 'the one that ended' : 'the last one'
    mend(`The call ${part.id} stood there twice: ${which} holds.`)
    if (reopensCall) continue
    merged[at] = part
    group.put(at, part)
  }
  return merged
}

/** The calls of a message that have one id and one name. */
interface CallGroup {
  /** The first place whose call this one repeats. */
  find(call: OldCall): number | undefined
  /** Sets the call of a place. */
  put(place: number, call: OldCall): void
}

/**
 * Every other call repeats one that has not ended; one that has ended is repeated with the same arguments, or where only
 * one of the two has complete ones. Found by index: compared one by one, thousands of calls with one id would take seconds
 * (OP7).
 */
function createGroup(first: number, firstCall: OldCall): CallGroup {
  const open: number[] = []
  const partial: number[] = []
  const complete: number[] = []
  const byInput = new Map<string, number[]>()
  /** The lists that have each place. All of them are in ascending order. */
  const listed = new Map<number, readonly number[][]>()
  const withInput = (value: Json): number[] => {
    const key = toKey(value)
    const same = byInput.get(key) ?? []
    byInput.set(key, same)
    return same
  }
  const listsOf = (call: OldCall): readonly number[][] => {
    if (!hasEnded(call)) return [open]
    return call.input.kind === 'partial' ? [partial] : [complete, withInput(call.input.value)]
  }
  const group: CallGroup = {
    find({ input }) {
      const lists =
        input.kind === 'partial' ? [open, complete] : [open, partial, withInput(input.value)]
      const places = lists.flatMap(([place]) => place ?? [])
      return places.length === 0 ? undefined : Math.min(...places)
    },
    put(place, call) {
      for (const list of listed.get(place) ?? []) list.splice(indexIn(list, place), 1)
      const lists = listsOf(call)
      for (const list of lists) list.splice(indexIn(list, place), 0, place)
      listed.set(place, lists)
    },
  }
  group.put(first, firstCall)
  return group
}

/** Where a place stands, or belongs, in an ascending list. */
function indexIn(list: readonly number[], place: number): number {
  let [from, to] = [0, list.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((list[middle] as number) < place) from = middle + 1
    else to = middle
  }
  return from
}

/** The same text for values that `sameJson` finds equal, whatever the order of their keys is. */
function toKey(value: Json): string {
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(toKey).join()}]`
  if (!isJsonObject(value)) return JSON.stringify(value)
  const fields = Object.keys(value).toSorted()
  return `{${fields.map((name) => `${JSON.stringify(name)}:${toKey(value[name] ?? null)}`).join()}}`
}
