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
import type { ReportMend, OldPart, OldSteering, OldStep, OldTurn } from './old-message.ts'
import { readUserMessage, toUserParts } from './user-message.ts'

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
  const spoken = addDrafts(yield* toSteps(calls, at, isExact, mend), [
    ...readDrafts(message, 'drafts'),
    ...readDrafts(message, 'replies'),
  ])
  const steps = addSteering(spoken, listOf(message, 'steering'), mend)
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
function addSteering(
  steps: readonly OldStep[],
  list: readonly Json[],
  mend: ReportMend,
): readonly OldStep[] {
  let merged = steps
  for (const value of list) {
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
    const home = merged.findIndex((step) => step.index !== undefined && step.index === index)
    const found = merged[home]
    merged =
      found === undefined
        ? addDrafts(merged, [withDefined({ parts: [steering] }, { index })])
        : merged.with(home, { ...found, parts: [...found.parts, steering] })
  }
  return merged
}

/** Inserts each before the first step that came after it. */
function addDrafts(steps: readonly OldStep[], drafts: readonly OldStep[]): readonly OldStep[] {
  if (drafts.length === 0) return steps
  const isBefore = (left: OldStep, right: OldStep) => (left.index ?? 0) < (right.index ?? 0)
  const merged = [...steps]
  for (const draft of drafts) {
    const at = merged.findIndex((step) => isBefore(draft, step))
    merged.splice(at === -1 ? merged.length : at, 0, draft)
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
  let rest = content
  for (const text of commentary) {
    const expected = text.trim()
    const end = expected === '' ? 0 : endOf(expected, rest)
    if (end === 0 || !endsAtWord(expected, rest.slice(end))) continue
    rest = rest.slice(end).trimStart()
  }
  return rest
}

/** The index in the content after the commentary that it begins with; 0 if it does not. White space may differ. */
function endOf(commentary: string, content: string): number {
  let end = skipSpace(content, 0)
  for (let at = 0; at < commentary.length;) {
    if (isSpace(commentary, at)) {
      if (!isSpace(content, end)) return 0
      at = skipSpace(commentary, at)
      end = skipSpace(content, end)
    } else if (commentary[at++] !== content[end++]) return 0
  }
  return end
}

const isSpace = (text: string, at: number): boolean => /\s/.test(text[at] ?? '')

function skipSpace(text: string, from: number): number {
  let at = from
  while (isSpace(text, at)) at++
  return at
}

/** "I" is not at the start of "It is 18 °C"; "Looking" is at that of "LookingIt is", glued together. */
function endsAtWord(commentary: string, rest: string): boolean {
  const isInWord = /[\p{L}\p{N}]$/u.test(commentary) && /^[\p{L}\p{N}]/u.test(rest)
  return !isInWord || (/\p{Ll}$/u.test(commentary) && /^\p{Lu}/u.test(rest))
}
