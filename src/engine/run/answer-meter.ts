import { countJsonChars, isLargerThan } from '../../core/json-size.ts'
import type { AnswerLimit, Turn } from '../../core/message.ts'
import type { EngineOptions } from '../options/options.ts'
import type { RecordedPart } from '../record/recorded-parts.ts'
import type { ModelPart } from '../model/model-part.ts'
import { attachableIn, nothingUsed, type Used, usedBy } from './turn-size.ts'

export type MeterOptions = Pick<
  EngineOptions,
  'maxTextChars' | 'maxArgumentChars' | 'maxCalls' | 'maxResultChars' | 'maxTurnChars'
>

/** The limit that a part exceeds, and the beginning of the part that still fits. */
export interface Overrun<Any> {
  readonly limit: AnswerLimit
  readonly rest: Any | null
}

/** Counts what a model, or the host application's own loop, produces in one turn, before it is stored (ST4a). */
export interface AnswerMeter {
  /** Null: the part is within the limits. After an overrun nothing more of the answer may be stored. */
  count<Any extends MeteredPart>(part: Any): Overrun<Any> | null
}

type MeteredPart = ModelPart | RecordedPart

/**
 * The most parts in a turn: texts, sources, files, data and results, preliminary results too, and what a loop says about
 * its steps and approvals. Each costs memory and storage even when it is empty.
 */
const mostParts = 10_000

/**
 * @param allowed what the turn contained when a person asked to continue it; that much is not counted against the
 * limits.
 */
export function createAnswerMeter(
  options: MeterOptions,
  turn: Turn,
  allowed: Used = nothingUsed,
): AnswerMeter {
  const { maxTextChars, maxArgumentChars, maxCalls, maxResultChars, maxTurnChars } = options
  const before = usedBy(turn)
  let textLeft = maxTextChars - before.text + allowed.text
  let fileLeft = maxResultChars - before.files + allowed.files
  let partsLeft = mostParts - before.parts + allowed.parts
  let callsLeft = maxCalls - before.calls + allowed.calls
  let charsLeft = maxTurnChars - before.chars + allowed.chars
  const attachable = attachableIn(options)
  let attachedLeft = attachable - before.attached + allowed.attached
  /** For each call whose arguments are streaming, how many characters may still arrive. */
  const argumentsLeft = new Map<string, number>()
  /** The texts that are open: a delta of any other id begins a text. */
  const openTexts = { text: new Set<string>(), reasoning: new Set<string>() }
  /** The characters of the metadata that each text has so far: what comes with a later delta replaces it. */
  const metadataOfText = new Map<string, number>()

  const over = (what: AnswerLimit['what'], most: number) => ({ limit: { what, most }, rest: null })
  const countPart = () => (--partsLeft < 0 ? over('parts', mostParts) : null)
  const countCall = () => (--callsLeft < 0 ? over('calls', maxCalls) : null)
  const countItem = (item: unknown) => {
    textLeft -= countJsonChars(item, textLeft)
    return textLeft < 0 ? over('text', maxTextChars) : countPart()
  }

  /** Checks the limits of the part's own kind. */
  const countKind = <Any extends MeteredPart>(part: Any): Overrun<Any> | null => {
    switch (part.type) {
      case 'text-delta':
      case 'reasoning-delta': {
        const open = openTexts[part.type === 'text-delta' ? 'text' : 'reasoning']
        if (!open.has(part.id)) {
          open.add(part.id)
          if (--partsLeft < 0) return over('parts', mostParts)
        }
        textLeft -= part.text.length
        if (textLeft >= 0) return null
        const text = cutBy(part.text, -textLeft)
        return { limit: { what: 'text', most: maxTextChars }, rest: { ...part, text } }
      }
      case 'text-start':
      case 'reasoning-start':
        openTexts[part.type === 'text-start' ? 'text' : 'reasoning'].add(part.id)
        return countPart()
      case 'text-end':
      case 'reasoning-end':
        openTexts[part.type === 'text-end' ? 'text' : 'reasoning'].delete(part.id)
        return null
      case 'start-step':
      case 'finish-step':
        openTexts.text.clear()
        openTexts.reasoning.clear()
        return countPart()
      case 'tool-result':
      case 'tool-error':
      case 'tool-approval-request':
      case 'tool-approval-response':
      case 'tool-output-denied':
        return countPart()
      case 'tool-input-start':
        argumentsLeft.set(part.id, maxArgumentChars)
        return countCall()
      case 'tool-input-delta': {
        // It changes nothing, and its id may be of no call: ids that are remembered must be counted.
        if (part.delta === '') return null
        const left = (argumentsLeft.get(part.id) ?? maxArgumentChars) - part.delta.length
        argumentsLeft.set(part.id, left)
        if (left >= 0) return null
        const delta = cutBy(part.delta, -left)
        return { limit: { what: 'arguments', most: maxArgumentChars }, rest: { ...part, delta } }
      }
      case 'tool-call': {
        // A streamed call was counted at its `tool-input-start`.
        const isNew = !argumentsLeft.delete(part.toolCallId)
        const isOver = isLargerThan(part.input, maxArgumentChars)
        if (isOver) return over('arguments', maxArgumentChars)
        return isNew ? countCall() : null
      }
      case 'file':
      case 'reasoning-file': {
        fileLeft -= charsOf(part)
        return fileLeft < 0 ? over('files', maxResultChars) : countPart()
      }
      case 'source':
      case 'custom':
      case 'data':
        return countItem(part)
      default:
        return null
    }
  }
  /** The characters that the part adds to the whole turn, beside its arguments, names and metadata. */
  const charsOf = (part: MeteredPart): number => {
    switch (part.type) {
      case 'text-delta':
      case 'reasoning-delta':
        return part.text.length
      case 'tool-input-start':
      case 'tool-call':
        return charsOfOptional(part.toolMetadata, maxTurnChars)
      case 'tool-result': {
        const chars = countJsonChars(part.output, maxResultChars)
        // A larger one is not stored: its call fails (ST4b).
        return chars > maxResultChars ? 0 : chars
      }
      case 'file':
      case 'reasoning-file':
        return 'url' in part
          ? countJsonChars(part, maxResultChars)
          : part.file.base64.length + part.file.mediaType.length
      case 'source':
      case 'custom':
      case 'data':
        return countJsonChars(part, maxTextChars)
      default:
        return 0
    }
  }
  const charsOfArguments = (part: MeteredPart): number => {
    if (part.type === 'tool-input-delta') return part.delta.length
    if (part.type !== 'tool-call') return 0
    // Streamed arguments were counted delta by delta.
    const left = argumentsLeft.get(part.toolCallId) ?? maxArgumentChars
    return Math.max(0, countJsonChars(part.input, maxArgumentChars) - (maxArgumentChars - left))
  }
  /** What providers choose and is stored as it is: the names and ids of a call, and the texts of its approval. */
  const charsOfNames = (part: MeteredPart): number => {
    switch (part.type) {
      case 'tool-input-start':
        return part.id.length + part.toolName.length + charsOfOptional(part.title)
      case 'tool-call':
        return part.toolCallId.length + part.toolName.length + charsOfOptional(part.title)
      case 'tool-approval-request':
        return part.approvalId.length + charsOfOptional(part.signature)
      case 'tool-approval-response':
        return charsOfOptional(part.reason)
      default:
        return 0
    }
  }
  /** Counts no further than needed: a value that a host application made may refer to itself. */
  const charsOfOptional = (value: unknown, most = attachable): number =>
    value == null ? 0 : countJsonChars(value, most)
  /** How many more characters of metadata the turn has with this part. */
  const growthOf = (part: MeteredPart, metadata: number): number => {
    if (!isOfText(part)) return metadata
    const before = part.type.endsWith('-start') ? 0 : (metadataOfText.get(part.id) ?? 0)
    metadataOfText.set(part.id, metadata)
    return Math.max(0, metadata - before)
  }

  return {
    count(part) {
      const { providerMetadata } = part as { readonly providerMetadata?: unknown }
      const metadata = charsOfOptional(providerMetadata)
      const given = charsOfArguments(part) + charsOfNames(part)
      const chars = charsOf(part) + given + metadata
      attachedLeft -= given + (metadata === 0 ? 0 : growthOf(part, metadata))
      const overrun = countKind(part)
      if (overrun !== null) return overrun
      if (attachedLeft < 0) return over('arguments', attachable)
      charsLeft -= chars
      return charsLeft < 0 ? over('turn', maxTurnChars) : null
    },
  }
}

type TextPart = Extract<
  MeteredPart,
  { readonly type: `${'text' | 'reasoning'}-${string}`; readonly id: string }
>
const isOfText = (part: MeteredPart): part is TextPart =>
  /^(?:text|reasoning)-(?:start|delta|end)$/.test(part.type)

/** Cuts no surrogate pair in half: one half alone is not valid text. */
function cutBy(text: string, chars: number): string {
  const end = text.length - chars
  return /[\ud800-\udbff]/.test(text[end - 1] ?? '') ? text.slice(0, end - 1) : text.slice(0, end)
}
