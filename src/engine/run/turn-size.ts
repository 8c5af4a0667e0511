import type { CallOutcome, CallOutput } from '../../core/call.ts'
import { countJsonChars, type JsonSize, sizeOfJson } from '../../core/json-size.ts'
import type { Part, Step, Turn } from '../../core/message.ts'

/** What a turn, or a step of it, contains. */
export interface Used {
  readonly text: number
  /** Characters of arguments, of the names and ids of calls, of a person's feedback, and of providers' metadata. */
  readonly attached: number
  readonly files: number
  /** Steps, texts, sources, files and data; a call is none of them. */
  readonly parts: number
  readonly calls: number
  /** About how many characters it has in all: texts, arguments, results, files and everything else in it (ST4c). */
  readonly chars: number
}

export const nothingUsed: Used = { text: 0, attached: 0, files: 0, parts: 0, calls: 0, chars: 0 }

/** Counts the whole turn, so that neither a further step nor a takeover by another process restarts the count. */
export function usedBy(turn: Turn): Used {
  const used = { ...nothingUsed }
  for (const step of turn.steps) {
    const { text, attached, files, parts, calls, chars } = usedByStep(step)
    used.text += text
    used.attached += attached
    used.files += files
    used.parts += parts
    used.calls += calls
    used.chars += chars
  }
  return used
}

/**
 * By step: a turn is a new object after every event, but an unchanged step stays the same object. Without this cache a
 * turn of many steps would be measured whole for each of them.
 */
const usedBySteps = new WeakMap<Step, Used>()

function usedByStep(step: Step): Used {
  const known = usedBySteps.get(step)
  if (known !== undefined) return known
  const used = { ...nothingUsed, parts: 1 }
  if (step.status === 'ended') used.chars += charsOfOptional(step.providerMetadata)
  for (const part of step.parts) {
    const attached = charsAttached(part)
    used.attached += attached
    used.chars += attached
    switch (part.type) {
      case 'call':
        used.calls++
        used.chars += charsOfOptional(part.toolMetadata)
        if (part.state === 'succeeded') used.chars += charsOfOutcome(part)
        break
      case 'text':
      case 'reasoning':
        used.parts++
        used.text += part.text.length
        used.chars += part.text.length
        break
      default:
        used.parts++
        if (part.type === 'file' || part.type === 'reasoning-file') used.files += part.url.length
        // With the metadata.
        used.chars += charsOfJson(part) - attached
    }
  }
  usedBySteps.set(step, used)
  return used
}

/** What stands around the value of a result. */
const charsAround = countJsonChars({ kind: 'inline', value: '' }, Number.POSITIVE_INFINITY) - 2

const charsOfResult = (output: CallOutput): number =>
  output.kind === 'omitted' ? output.bytes : charsAround + sizeOfJson(output.value).chars

/**
 * The characters of a result, with what the model is sent in its place. Errors are short, and not counted: a turn without
 * room for a result must have room for the error that says so.
 */
export const charsOfOutcome = (outcome: CallOutcome): number =>
  outcome.state === 'succeeded'
    ? charsOfResult(outcome.output) + charsOfOptional(outcome.modelOutput)
    : 0

/** The characters of a call's arguments and names, and of what the provider has attached to a part. */
function charsAttached(part: Part): number {
  const { providerMetadata } = part as { readonly providerMetadata?: unknown }
  const metadata = charsOfOptional(providerMetadata)
  if (part.type !== 'call') return metadata
  const { input, providerCallId, name, decision } = part
  const names = providerCallId.length + name.length + charsOfOptional(part.title)
  const feedback = decision?.feedback?.length ?? 0
  const given = input.kind === 'partial' ? input.text.length : charsOfJson(input.value)
  return metadata + names + charsOfOptional(part.approvalRequest) + given + feedback
}

const charsOfOptional = (value: unknown): number => (value === undefined ? 0 : charsOfJson(value))

/** The characters of any JSON value. */
export const charsOfJson = (value: unknown): number =>
  countJsonChars(value, Number.POSITIVE_INFINITY)

/**
 * The arguments and names of all calls of a turn, what persons say about them, and what providers attach to its parts, have
 * this many times the characters that one call's arguments may have: a page leaves out large results, but never these (OP7a).
 */
const mostAttached = 4

export const attachableIn = ({ maxArgumentChars }: { readonly maxArgumentChars: number }): number =>
  mostAttached * maxArgumentChars

/** The error text of a result that is refused. */
export const tooMuchForTurn = (most: number): string =>
  `With this result the answer would exceed the limit of ${most.toLocaleString('en-US')} characters.`

export const tooMuchAtOnce =
  'The result is too large to be kept beside those of the other answers in progress. Try again when they are done.'

/** An object or a short text takes so much memory besides its characters. */
const bytesPerValue = 48

/** About how much memory a value of this size takes. */
export const memoryOf = ({ chars, values }: JsonSize): number => chars + values * bytesPerValue

/** The same of a result, with what the model is sent in its place. */
export const memoryOfOutcome = (outcome: CallOutcome): number => {
  if (outcome.state !== 'succeeded') return 0
  const { output, modelOutput } = outcome
  const own = output.kind === 'omitted' ? output.bytes : memoryOf(sizeOfJson(output.value))
  return own + (modelOutput === undefined ? 0 : memoryOf(sizeOfJson(modelOutput)))
}
