import type { PausableWork } from '../core/pausable-work.ts'
import { withDefined } from '../core/with-defined.ts'
import {
  hasEnded,
  type MessagePart,
  type OldCall,
  type OldPart,
  type OldSteering,
  type OldStep,
  type ReportMend,
} from './old-message.ts'
import { isJsonObject, type Json } from '../core/json.ts'

/**
 * How a message without marks is split into steps. `loose`: text after a call begins the next step. `exact`:
 * as `projectVercelMessage` writes them, extras first, then one text, then the calls.
 */
type StepRule = 'loose' | 'exact'

export function toSteps(parts: readonly MessagePart[], rule: StepRule): readonly OldStep[] {
  const isMarked = rule === 'loose' && parts.some((part) => part.type === 'step-start')
  const steps: OldPart[][] = []
  let current = openStep()
  const close = () => {
    if (current.parts.length > 0) steps.push(current.parts)
    current = openStep()
  }
  for (const part of parts) {
    if (part.type === 'step-start') {
      close()
      continue
    }
    if (!isMarked && 'text' in part && part.text === '') continue
    if (!isMarked && beginsStep(part, current, rule)) close()
    addPart(current, part)
  }
  close()
  return steps.map(toStep)
}

/**
 * The step that parts are added to, with what `beginsStep` has to know of them: searched for in the parts at every
 * part, a turn of thousands of calls would take seconds (OP7).
 */
interface OpenStep {
  readonly parts: OldPart[]
  hasCall: boolean
  hasText: boolean
  /** The step that its last numbered part was in. */
  index: number | undefined
}

const openStep = (): OpenStep => ({ parts: [], hasCall: false, hasText: false, index: undefined })

function addPart(step: OpenStep, part: OldPart): void {
  step.parts.push(part)
  if (part.type === 'call') step.hasCall = true
  if (part.type === 'text') step.hasText = true
  if (isNumbered(part)) step.index = part.step
}

function beginsStep(part: OldPart, step: OpenStep, rule: StepRule): boolean {
  const { hasCall: isCalling, hasText, index } = step
  // A message that joined the turn stands behind the step that it followed (IN3).
  if (part.type === 'call' || part.type === 'steering') {
    return index !== undefined && part.step !== undefined && index !== part.step
  }
  if (rule === 'exact') return isCalling || hasText
  return isCalling && (part.type === 'text' || part.type === 'reasoning')
}

function toStep(parts: readonly OldPart[]): OldStep {
  const index = parts.find(isNumbered)?.step
  return withDefined({ parts }, { index })
}

/** A part that says in which step it was. */
const isNumbered = (part: OldPart): part is (OldCall | OldSteering) & { readonly step: number } =>
  (part.type === 'call' || part.type === 'steering') && part.step !== undefined

export const hasCall = (step: OldStep): boolean => step.parts.some((part) => part.type === 'call')

export const textOfStep = (step: Pick<OldStep, 'parts'>): string =>
  step.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')

/**
 * Merges calls from a list beside the parts into the parts. A call that the parts have already stays, and
 * gets its end from the list; the others are inserted in the order of the list (LE2).
 */
export function addListedCalls(
  steps: readonly OldStep[],
  listed: readonly OldCall[],
): readonly OldStep[] {
  if (listed.length === 0) return steps
  if (!steps.some(hasCall)) return [...toSteps(listed, 'loose'), ...steps]
  const slots = steps.map((step) => step.parts.map(toSlot))
  const find = indexCalls(slots.flat())
  // A call that is not among the parts stands behind the one before it in the list; the first, before all calls.
  const first: OldCall[] = []
  let behind = first
  for (const call of listed) {
    const slot = find(call)
    if (slot === undefined) {
      behind.push(call)
      continue
    }
    slot.isPlaced = true
    if (!hasEnded(slot.part)) slot.part = toEnded(slot.part, call)
    behind = slot.behind
  }
  return steps.map((step, index) => ({
    ...step,
    parts: (slots[index] ?? []).flatMap((slot) => {
      const before = slot.part.type === 'call' ? first.splice(0) : []
      return [...before, slot.part, ...slot.behind]
    }),
  }))
}

/** A part of a message, and the calls from a list that are inserted behind it. */
interface PartSlot<Part extends OldPart = OldPart> {
  part: Part
  readonly behind: OldCall[]
  isPlaced: boolean
}

const toSlot = (part: OldPart): PartSlot => ({ part, behind: [], isPlaced: false })

/**
 * Finds the first call among the parts that a listed one is and that no other was: by id where both have one;
 * otherwise each of the parts matches one of its tool in the list. By index: compared one by one, the calls of a long
 * turn would take seconds (OP7).
 */
function indexCalls(slots: readonly PartSlot[]) {
  const calls = slots.filter((slot): slot is PartSlot<OldCall> => slot.part.type === 'call')
  const order = new Map(calls.map((slot, nth) => [slot, nth]))
  const byId = Map.groupBy(calls, ({ part }) => part.id)
  const byName = Map.groupBy(calls, ({ part }) => part.name)
  const nameless = Map.groupBy(byId.get(undefined) ?? [], ({ part }) => part.name)
  // Reversed, so that `next` removes the first one by `pop`, and passes over each once.
  for (const list of [byId, byName, nameless]) for (const found of list.values()) found.reverse()
  const next = (found: PartSlot<OldCall>[] = []): PartSlot<OldCall> | undefined => {
    while (found.at(-1)?.isPlaced === true) found.pop()
    return found.at(-1)
  }
  return ({ id, name }: OldCall): PartSlot<OldCall> | undefined => {
    if (id === undefined) return next(byName.get(name))
    const same = next(byId.get(id))
    const unnamed = next(nameless.get(name))
    if (same === undefined || unnamed === undefined) return same ?? unnamed
    return (order.get(same) ?? 0) < (order.get(unnamed) ?? 0) ? same : unnamed
  }
}

/** Complete arguments are preferred, whichever of the two has them. */
function toEnded(stored: OldCall, { outcome, decision, input, ...listed }: OldCall): OldCall {
  const args = stored.input.kind === 'complete' ? stored.input : input
  const id = stored.id ?? listed.id
  return withDefined({ ...stored, input: args, outcome }, { id, decision })
}

/** Text is the fallback: content that is in no part is the answer (LE2). */
export function* addMissingContent(
  steps: readonly OldStep[],
  content: string,
): PausableWork<readonly OldStep[]> {
  const text = squeeze(content)
  if (text === '' || steps.some(isAnswer)) return steps
  const commentary = squeeze(steps.filter(hasCall).map(textOfStep).join(''))
  return (yield* containsText(commentary, text))
    ? steps
    : [...steps, { parts: [{ type: 'text', text: content }] }]
}

const isAnswer = (step: OldStep): boolean =>
  step.flaw !== 'draft' && !hasCall(step) && squeeze(textOfStep(step)) !== ''

/** Without white space, which differs between what was streamed and what was stored. */
export const squeeze = (text: string): string => text.replaceAll(/\s+/g, '')

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

const charsAtOnce = 65_536

/**
 * Whether a text contains another, in time that grows with both (Knuth, Morris and Pratt): `includes` takes minutes where a
 * long text nearly fits at every place (OP7).
 */
export function* containsText(text: string, part: string): PausableWork<boolean> {
  if (part.length > text.length) return false
  const borders = yield* findBorders(part)
  let fits = 0
  for (let at = 0; at < text.length; at++) {
    if (fits === part.length) return true
    if (at % charsAtOnce === 0) yield
    const char = text.charCodeAt(at)
    while (fits > 0 && part.charCodeAt(fits) !== char) fits = borders[fits - 1] as number
    if (part.charCodeAt(fits) === char) fits++
  }
  return fits === part.length
}

/** For each place of a text, how many characters before it and at it are also those at its start. */
function* findBorders(text: string): PausableWork<Int32Array> {
  const borders = new Int32Array(text.length)
  let border = 0
  for (let at = 1; at < text.length; at++) {
    if (at % charsAtOnce === 0) yield
    const char = text.charCodeAt(at)
    while (border > 0 && text.charCodeAt(border) !== char) border = borders[border - 1] as number
    if (text.charCodeAt(border) === char) border++
    borders[at] = border
  }
  return borders
}
