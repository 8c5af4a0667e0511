import { type Call, isOpenCall } from '../core/call.ts'
import type { CallId } from '../core/ids.ts'
import {
  callsOf,
  isTurn,
  type Message,
  type Step,
  type Turn,
  type UserMessage,
  type UserPart,
} from '../core/message.ts'
import { withDefined } from '../core/with-defined.ts'
import { shownTextOf, toCarryOnWords } from './carry-on-words.ts'
import type { ModelMessage, PromptFile, PromptText } from './model-message.ts'
import { projectPromptStep } from './prompt-step.ts'
import { isPristineStep } from './whole-step.ts'

interface PromptOptions {
  /** The most characters of a result that the model is sent. */
  readonly maxOutputChars?: number
  /**
   * Tools whose results the provider may return in a later step: open calls of them in the last turn are part
   * of the prompt.
   */
  readonly isDeferred?: (name: string) => boolean
  /**
   * `sdk`: a call that was accepted and has not run is sent as a request and its response, so that the loop
   * of the AI SDK runs it. Without it, as a call that has not run yet.
   */
  readonly approvals?: 'sdk'
  /** How the model is asked to continue a step that was broken off after it had shown text (AG8). */
  readonly continueText?: ContinueText
}

/**
 * How a model continues an answer that was broken off. `prefix`: the shown text is the last message of the
 * prompt, and the model appends to it. `instruction`: a sentence asks for the rest.
 */
export type ContinueText = 'prefix' | 'instruction'

const continueSentence = 'Continue from where you stopped.'
const beginning = 'The conversation begins.'

/**
 * The prompt of a thread, oldest message first: valid for every provider whatever a crash left behind (ST3).
 * Each call is followed by its result, no message is empty, user and assistant alternate, and the last
 * message is never the assistant's.
 */
export function projectPrompt(
  messages: readonly Message[],
  options: PromptOptions = {},
): ModelMessage[] {
  const prompt: ModelMessage[] = []
  const idOf = createCallIds()
  let isPending = false
  for (const message of messages) {
    if (isTurn(message)) isPending = addTurn(prompt, message, { ...options, idOf })
    else addUserMessage(prompt, message)
  }
  // The provider still owes a result: it expects its own call as the last part of the prompt, and nothing
  // after it.
  if (prompt.at(-1)?.role === 'assistant' && !isPending) addContinuation(prompt, messages, options)
  return prompt
}

function addContinuation(
  prompt: ModelMessage[],
  messages: readonly Message[],
  { continueText }: PromptOptions,
): void {
  const turn = messages.at(-1)
  const step = turn !== undefined && isTurn(turn) ? turn.steps.at(-1) : undefined
  const shown = step?.status === 'open' ? shownTextOf(step) : ''
  if (continueText === undefined || shown.trim() === '') {
    return addUserParts(prompt, [{ type: 'text', text: continueSentence }])
  }
  if (continueText === 'prefix') trimLastText(prompt)
  else addUserParts(prompt, [{ type: 'text', text: toCarryOnWords(shown) }])
}

/** Providers refuse a prefix that ends in white space. */
function trimLastText(prompt: ModelMessage[]): void {
  const last = prompt.at(-1)
  const part = last?.role === 'assistant' ? last.content.at(-1) : undefined
  if (last?.role !== 'assistant' || part?.type !== 'text') return
  const content = [...last.content.slice(0, -1), { ...part, text: part.text.trimEnd() }]
  prompt[prompt.length - 1] = { role: 'assistant', content }
}

/** Returns whether the provider still owes the result of the turn's last call. */
function addTurn(
  prompt: ModelMessage[],
  turn: Turn,
  options: PromptOptions & { readonly idOf: (call: Call) => string },
): boolean {
  const idOf = createKnownIds(options.idOf)
  const isAwaited = (call: Call) =>
    turn.progress.status !== 'ended' && isOpenCall(call) && options.isDeferred?.(call.name) === true
  let isPending = false
  const late = callsOf(turn).filter((call) => call.resultStep !== undefined)
  const lateIn = ({ index }: Step) =>
    late.filter((call) => call.resultStep === index && isCallInPrompt(turn, call))
  for (const step of turn.steps) {
    const projected = projectPromptStep(step, {
      ...options,
      turn,
      idOf,
      late: lateIn(step),
      isAwaited,
    })
    if (projected === null) {
      addSteering(prompt, step)
      continue
    }
    const before = prompt.at(-1)?.role
    isPending = projected.isPending
    // The sentence that the model was sent when it continued after its own text; repeating it keeps the
    // prompt the same.
    if (before === 'assistant' && !projected.continuesPrevious)
      addUserParts(prompt, [{ type: 'text', text: continueSentence }])
    if (before === undefined || before === 'system') {
      addUserParts(prompt, [{ type: 'text', text: beginning }])
    }
    prompt.push({ role: 'assistant', content: projected.content })
    if (projected.results.length > 0) prompt.push({ role: 'tool', content: projected.results })
    addSteering(prompt, step)
  }
  return isPending
}

/**
 * An input that joined after a step was sent to the model there, and stays at that position in every later
 * prompt (IN3).
 */
function addSteering(prompt: ModelMessage[], step: Step): void {
  const parts = step.parts.flatMap((part) => (part.type === 'steering' ? part.parts : []))
  const sent = parts.flatMap(toPromptPart)
  if (sent.length > 0) addUserParts(prompt, sent)
}

/**
 * The provider-executed calls of a step that broke off are not in the prompt, so their results must not be
 * either.
 */
const isCallInPrompt = ({ steps }: Turn, call: Call): boolean =>
  steps.some((step) => step.index === call.step && isPristineStep(step))

/** A late result must have the same id in the prompt as its call. */
function createKnownIds(idOf: (call: Call) => string): (call: Call) => string {
  const known = new Map<CallId, string>()
  return (call) => {
    const id = known.get(call.id) ?? idOf(call)
    known.set(call.id, id)
    return id
  }
}

function addUserMessage(prompt: ModelMessage[], message: UserMessage): void {
  const parts = message.parts.flatMap(toPromptPart)
  if (parts.length === 0) return
  const isFirst = prompt.every(({ role }) => role === 'system')
  if (message.role === 'system' && isFirst) {
    const content = parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
    prompt.push({ role: 'system', content })
  } else {
    // Not every provider accepts system messages in mid-conversation, or two user messages in a row.
    addUserParts(prompt, parts)
  }
}

function addUserParts(prompt: ModelMessage[], parts: readonly (PromptText | PromptFile)[]): void {
  const last = prompt.at(-1)
  if (last?.role !== 'user') prompt.push({ role: 'user', content: parts })
  else prompt[prompt.length - 1] = { role: 'user', content: [...last.content, ...parts] }
}

/** A file that a provider cannot read would fail every later answer of the thread, so it is not sent. */
function isSendable(url: string): boolean {
  const [, head, body] = /^(data:[^,]*;base64,)([^]*)$/i.exec(url) ?? []
  if (head !== undefined) return body !== '' && /^[\w+/-]+={0,2}$/.test(body ?? '')
  return /^https?:\/\//i.test(url)
}
/** No provider accepts bytes of an unknown type. */
const sendableType = /^[\w-]+\/(?!octet-stream$)\S+$/i

function toPromptPart(part: UserPart): readonly (PromptText | PromptFile)[] {
  if (part.type === 'text')
    return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }]
  const { url: data, mediaType, filename } = part
  if (!isSendable(data) || !sendableType.test(mediaType)) {
    return [{ type: 'text', text: `[The file ${filename ?? mediaType} cannot be read here.]` }]
  }
  return [withDefined({ type: 'file', data, mediaType } as const, { filename })]
}

/** What all providers accept: Anthropic accepts any number of these characters, and OpenAI up to 40. */
const portableId = /^[\w-]{1,40}$/

/**
 * Uses the provider's own ids where they can be sent. Providers repeat ids, which a prompt must not (LG10),
 * and the next provider may refuse their form. The ids of provider-executed calls are kept, because the
 * provider looks them up.
 */
function createCallIds(): (call: Call) => string {
  const taken = new Set<string>()
  return ({ id: own, providerCallId, providerExecuted }) => {
    const canUse = (id: string) =>
      !taken.has(id) && (portableId.test(id) || (providerExecuted === true && id !== ''))
    let id = [providerCallId, own].find(canUse)
    for (let number = taken.size; id === undefined; number++) {
      id = [`call_${number}`].find(canUse)
    }
    taken.add(id)
    return id
  }
}
