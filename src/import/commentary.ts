import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
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
  textOf,
} from './old-fields.ts'
import type { ReportMend, OldPart, OldStep, OldTurn } from './old-message.ts'

/** A message with `toolCalls` beside its content, and with commentary in either or in both (LE3). */
export function readCommentaryMessage(message: JsonObject, at: number, mend: ReportMend): OldTurn {
  // `projectChatMessage` keeps them apart: there the content is the answer, whatever it begins with.
  const content = textOf(message, 'content') || textOfParts(partListOf(message))
  const calls = callListOf(message, callLists, mend)
  const isExact = calls.length > 0 && calls.every(isOurCall)
  const commentary = calls.map((call) => textOf(call, 'commentary') ?? '')
  const answer = isExact ? content : stripCommentary(content, commentary)
  if (answer !== content) mend('Commentary stood at the start of the content: it was taken out.')
  const steps = addDrafts(toSteps(calls, at, isExact, mend), readDrafts(message))
  return withDefined(
    {
      kind: 'turn',
      steps: answer.trim() === '' ? steps : [...steps, { parts: [{ type: 'text', text: answer }] }],
    } as const,
    { id: idOf(message, 'id'), at: dateOf(message), metadata: fieldOf(message, 'metadata') },
  )
}

/** Attempts that were broken off, as `projectChatMessage` writes them (AG8). */
const readDrafts = (message: JsonObject): readonly OldStep[] =>
  listOf(message, 'drafts').flatMap((draft): readonly OldStep[] => {
    const text = isJsonObject(draft) ? (textOf(draft, 'text') ?? '') : ''
    const index = isJsonObject(draft) ? fieldOf(draft, 'step') : undefined
    if (text.trim() === '') return []
    const step = { parts: [{ type: 'text', text }], flaw: 'draft' } as const
    return [withDefined(step, { index: typeof index === 'number' ? index : undefined })]
  })

/** Each before the first step that came after it. */
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

/** A call with commentary of its own begins a step, unless the data says which step it is of. */
function toSteps(
  calls: readonly JsonObject[],
  at: number,
  isExact: boolean,
  mend: ReportMend,
): readonly OldStep[] {
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
  }
  return steps
}

/**
 * Takes the commentary of the calls out of the start of old content (LE3). Only where it stands at
 * the start, one after the other: the same words further on are part of the answer.
 */
export function stripCommentary(content: string, commentary: readonly string[]): string {
  let rest = content
  for (const text of commentary) {
    const said = text.trim()
    const end = said === '' ? 0 : endOf(said, rest)
    if (end === 0 || !endsThere(said, rest.slice(end))) continue
    rest = rest.slice(end).trimStart()
  }
  return rest
}

/** Where these words end that the content begins with; 0 if it does not. White space may differ. */
function endOf(said: string, content: string): number {
  let end = skipSpace(content, 0)
  for (let at = 0; at < said.length;) {
    if (isSpace(said, at)) {
      if (!isSpace(content, end)) return 0
      at = skipSpace(said, at)
      end = skipSpace(content, end)
    } else if (said[at++] !== content[end++]) return 0
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
function endsThere(said: string, rest: string): boolean {
  const isInWord = /[\p{L}\p{N}]$/u.test(said) && /^[\p{L}\p{N}]/u.test(rest)
  return !isInWord || (/\p{Ll}$/u.test(said) && /^\p{Lu}/u.test(rest))
}
