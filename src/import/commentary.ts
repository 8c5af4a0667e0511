import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import type { PausableWork } from '../core/pausable-work.ts'
import { withDefined } from '../core/with-defined.ts'
import { isOurCall } from './call-outcome.ts'
import { readChatCall } from './old-call.ts'
import {
  callListOf,
  callLists,
  dateOf,
  fieldOf,
  idOf,
  listOf,
  partListOf,
  stepOf,
  textOf,
} from './old-fields.ts'
import type { OldPart, OldSteering, OldStep, OldTurn, ReportMend } from './old-message.ts'
import { readUserMessage, toUserParts } from './message-parts.ts'

/** A message with `toolCalls` beside its content, and with commentary in either or in both (LE3). */
export function* readCommentaryMessage(
  message: JsonObject,
  at: number,
  mend: ReportMend,
): PausableWork<OldTurn> {
  // `projectChatMessage` writes them separately: there the content is the answer, whatever it begins with.
  const content = textOf(message, 'content') || textOfParts(partListOf(message))
  const calls = callListOf(message, callLists, mend)
  const isExact = calls.length > 0 && calls.every(isOurCall)
  const commentary = calls.map((call) => textOf(call, 'commentary') ?? '')
  const answer = isExact ? content : stripCommentary(content, commentary)
  if (answer !== content) mend('Commentary stood at the start of the content: it was taken out.')
  const withDrafts = addDrafts(yield* toSteps(calls, at, isExact, mend), [
    ...readDrafts(message, 'drafts'),
    ...readDrafts(message, 'replies'),
  ])
  const steps = yield* addSteering(withDrafts, listOf(message, 'steering'), mend)
  return withDefined(
    {
      kind: 'turn',
      steps: answer.trim() === '' ? steps : [...steps, { parts: [{ type: 'text', text: answer }] }],
    } as const,
    { id: idOf(message, 'id'), at: dateOf(message), metadata: fieldOf(message, 'metadata') },
  )
}

/** Attempts that were broken off (AG8), and answers before the last (IN3), as `projectChatMessage` writes them. */
const readDrafts = (message: JsonObject, list: 'drafts' | 'replies'): readonly OldStep[] =>
  listOf(message, list).flatMap((draft): readonly OldStep[] => {
    const text = isJsonObject(draft) ? (textOf(draft, 'text') ?? '') : ''
    const index = isJsonObject(draft) ? fieldOf(draft, 'step') : undefined
    if (text.trim() === '') return []
    const step = { parts: [{ type: 'text', text }] } as const
    return [
      withDefined(step, {
        index: typeof index === 'number' ? index : undefined,
        flaw: list === 'drafts' ? ('draft' as const) : undefined,
      }),
    ]
  })

/** Adds messages that joined the turn, each behind the step that it followed (IN3). */
function* addSteering(
  steps: readonly OldStep[],
  list: readonly Json[],
  mend: ReportMend,
): PausableWork<readonly OldStep[]> {
  if (list.length === 0) return steps
  /** Copies whose parts grow in place: with a copy for each of thousands, they would take seconds. */
  const grown = steps.map((step) => ({ ...step, parts: [...step.parts] }))
  const homes = new Map<number, OldPart[]>()
  for (const { index, parts } of grown) {
    if (index !== undefined && !homes.has(index)) homes.set(index, parts)
  }
  const added: OldStep[] = []
  for (const value of list) {
    yield
    const id = isJsonObject(value) ? idOf(value, 'id') : undefined
    if (!isJsonObject(value) || id === undefined) {
      mend('A message that joined the turn has no id: it was left out.')
      continue
    }
    const parts = toUserParts(textOf(value, 'text') ?? '', value)
    const index = stepOf(value)
    const steering: OldSteering = withDefined(
      { type: 'steering', id, parts: readUserMessage({ parts }, 'user', mend).parts } as const,
      { at: dateOf(value), step: index },
    )
    const home = index === undefined ? undefined : homes.get(index)
    if (home !== undefined) {
      home.push(steering)
      continue
    }
    const own: OldPart[] = [steering]
    added.push(withDefined({ parts: own }, { index }))
    if (index !== undefined) homes.set(index, own)
  }
  return addDrafts(grown, added)
}

/** Inserts each before the first step that came after it. */
function addDrafts(steps: readonly OldStep[], drafts: readonly OldStep[]): readonly OldStep[] {
  if (drafts.length === 0) return steps
  const indexOf = ({ index = 0 }: OldStep) => index
  // The first step that came after a draft came after every step before it, so only those have to be searched.
  const peaks: number[] = []
  for (const [place, step] of steps.entries()) {
    const last = steps[peaks.at(-1) ?? -1]
    if (last === undefined || indexOf(step) > indexOf(last)) peaks.push(place)
  }
  const placeOf = (draft: OldStep): number => {
    let [from, to] = [0, peaks.length]
    while (from < to) {
      const middle = (from + to) >> 1
      if (indexOf(steps[peaks[middle] ?? 0] as OldStep) > indexOf(draft)) to = middle
      else from = middle + 1
    }
    return peaks[from] ?? steps.length
  }
  const before = Map.groupBy(
    drafts.toSorted((left, right) => indexOf(left) - indexOf(right)),
    placeOf,
  )
  const merged: OldStep[] = []
  for (let place = 0; place <= steps.length; place++) {
    for (const draft of before.get(place) ?? []) merged.push(draft)
    const step = steps[place]
    if (step !== undefined) merged.push(step)
  }
  return merged
}

const textOfParts = (parts: readonly Json[]): string =>
  parts.map((part) => (isJsonObject(part) ? (textOf(part, 'text') ?? '') : '')).join('')

/** A call with its own commentary begins a step, unless the data has the index of its step. */
function* toSteps(
  calls: readonly JsonObject[],
  at: number,
  isExact: boolean,
  mend: ReportMend,
): PausableWork<readonly OldStep[]> {
  const steps: { parts: OldPart[]; index?: number }[] = []
  let before = ''
  for (const value of calls) {
    const call = readChatCall(value, at, mend, isExact)
    const commentary = textOf(value, 'commentary') ?? ''
    // Some apps wrote the same commentary to every call of a step.
    const isNew = commentary.trim() !== '' && (isExact || commentary !== before)
    const current = steps.at(-1)
    const begins =
      current === undefined || (call.step === undefined ? isNew : call.step !== current.index)
    const step = begins ? withDefined({ parts: [] as OldPart[] }, { index: call.step }) : current
    if (begins) steps.push(step)
    if (isNew) step.parts.push({ type: 'text', text: commentary })
    step.parts.push(call)
    before = commentary
    yield
  }
  return steps
}

/**
 * Removes the commentary of the calls from the start of old content (LE3). Only where it is at the start, one
 * after the other: the same text further on is part of the answer.
 */
export function stripCommentary(content: string, commentary: readonly string[]): string {
  const skip = createSkip(content)
  let start = 0
  for (const text of commentary) {
    const expected = text.trim()
    const end = expected === '' ? undefined : endOf(expected, content, skip(start), skip)
    if (end === undefined || !endsAtWord(expected, content.slice(end, end + letterChars))) continue
    start = skip(end)
  }
  return content.slice(start)
}

/**
 * The index in the content behind the commentary that stands at `start`; undefined if it does not. White space may differ.
 */
function endOf(commentary: string, content: string, start: number, skip: Skip): number | undefined {
  let end = start
  for (let at = 0; at < commentary.length;) {
    if (isSpace(commentary, at)) {
      if (!isSpace(content, end)) return undefined
      at = skipSpace(commentary, at)
      end = skip(end)
    } else if (commentary[at++] !== content[end++]) return undefined
  }
  return end
}

/** The index of the first character from here on that is not white space. */
type Skip = (from: number) => number

/** Each run of white space is searched once: thousands of calls would otherwise search the same megabytes (OP7). */
function createSkip(text: string): Skip {
  const ends = new Map<number, number>()
  return (from) => {
    const known = ends.get(from) ?? skipSpace(text, from)
    ends.set(from, known)
    return known
  }
}

function isSpace(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return (code <= 0x20 || code >= 0x80) && /\s/.test(text[at] ?? '')
}

function skipSpace(text: string, from: number): number {
  const word = /\S/g
  word.lastIndex = from
  return word.exec(text)?.index ?? text.length
}

/** A letter has at most so many characters. */
const letterChars = 2

/** "I" is not at the start of "It is 18 °C"; "Looking" is at that of "LookingIt is", glued together. */
function endsAtWord(commentary: string, rest: string): boolean {
  const last = commentary.slice(-letterChars)
  const isInWord = /[\p{L}\p{N}]$/u.test(last) && /^[\p{L}\p{N}]/u.test(rest)
  return !isInWord || (/\p{Ll}$/u.test(last) && /^\p{Lu}/u.test(rest))
}
