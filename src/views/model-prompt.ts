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
  /** What of a long result the model is sent. */
  readonly maxOutputChars?: number
  /** Tools whose results the provider may give in a later step: the last turn's open calls of them are told. */
  readonly isDeferred?: (name: string) => boolean
  /**
   * `sdk`: a call that was accepted and has not run is told as a request and its answer, so that the loop of
   * the AI SDK runs it. Without it, as one that has not run yet.
   */
  readonly approvals?: 'sdk'
  /** How the model is asked to carry on with a step that was broken off after it had shown text (AG8). */
  readonly continueText?: ContinueText
}

/**
 * How a model goes on with an answer that was broken off. `prefix`: what was shown is the last message, and the model's own
 * beginning. `instruction`: a sentence asks for the rest.
 */
export type ContinueText = 'prefix' | 'instruction'

const goOn = 'Continue from where you stopped.'
const beginning = 'The conversation begins.'

/**
 * What the model is sent of a thread, oldest message first: valid for every provider whatever a crash
 * left behind (ST3). Each call is followed by its result, nothing is empty, users and the model take
 * turns, and the last word is never the model's.
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
  // What the provider owes comes next: it takes its own call for the last word, and nothing after it.
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
    return addUserParts(prompt, [{ type: 'text', text: goOn }])
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

/** Whether the provider owes the result of a call that it was the last to speak of. */
function addTurn(
  prompt: ModelMessage[],
  turn: Turn,
  options: PromptOptions & { readonly idOf: (call: Call) => string },
): boolean {
  const idOf = createKnownIds(options.idOf)
  const isAwaited = (call: Call) =>
    turn.progress.status !== 'ended' && isOpenCall(call) && options.isDeferred?.(call.name) === true
  let isPending = false
  for (const step of turn.steps) {
    const late = [...callsOf(turn)].filter(
      (call) => call.resultStep === step.index && isCallTold(turn, call),
    )
    const projected = projectPromptStep(step, { ...options, idOf, late, isAwaited })
    if (projected === null) {
      addSteering(prompt, step)
      continue
    }
    const before = prompt.at(-1)?.role
    isPending = projected.isPending
    // What the model was sent when it went on after text of its own; said again, it is the same prompt.
    if (before === 'assistant' && !projected.goesOn)
      addUserParts(prompt, [{ type: 'text', text: goOn }])
    if (before === undefined || before === 'system') {
      addUserParts(prompt, [{ type: 'text', text: beginning }])
    }
    prompt.push({ role: 'assistant', content: projected.content })
    if (projected.results.length > 0) prompt.push({ role: 'tool', content: projected.results })
    addSteering(prompt, step)
  }
  return isPending
}

/** What joined behind a step was said to the model there, and is in every later prompt (IN3). */
function addSteering(prompt: ModelMessage[], step: Step): void {
  const parts = step.parts.flatMap((part) => (part.type === 'steering' ? part.parts : []))
  const told = parts.flatMap(toPromptPart)
  if (told.length > 0) addUserParts(prompt, told)
}

/** Of a step that broke off the provider's own calls are not told, and so no results of them. */
const isCallTold = ({ steps }: Turn, call: Call): boolean =>
  steps.some((step) => step.index === call.step && isPristineStep(step))

/** A late result has the id that its call was told with. */
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
    // Not every provider takes instructions in mid-conversation, nor two messages of a user in a row.
    addUserParts(prompt, parts)
  }
}

function addUserParts(prompt: ModelMessage[], parts: readonly (PromptText | PromptFile)[]): void {
  const last = prompt.at(-1)
  if (last?.role !== 'user') prompt.push({ role: 'user', content: parts })
  else prompt[prompt.length - 1] = { role: 'user', content: [...last.content, ...parts] }
}

/** What providers refuse to read fails every answer after it, so it is not sent. */
function isSendable(url: string): boolean {
  const [, head, body] = /^(data:[^,]*;base64,)([^]*)$/i.exec(url) ?? []
  if (head !== undefined) return body !== '' && /^[\w+/-]+={0,2}$/.test(body ?? '')
  return /^https?:\/\//i.test(url)
}
/** Of bytes of no kind no provider makes anything. */
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

/** What all take: of these characters Anthropic takes any number, and OpenAI up to 40. */
const portableId = /^[\w-]{1,40}$/

/**
 * The provider's own ids where they can be sent. Providers repeat them, which a prompt must not (LG10),
 * and the next provider may refuse the form of them. Of its own calls a provider knows the ids again.
 */
function createCallIds(): (call: Call) => string {
  const taken = new Set<string>()
  return ({ id: own, providerCallId, providerExecuted }) => {
    const isGood = (id: string) =>
      !taken.has(id) && (portableId.test(id) || (providerExecuted === true && id !== ''))
    let id = [providerCallId, own].find(isGood)
    for (let number = taken.size; id === undefined; number++) {
      id = [`call_${number}`].find(isGood)
    }
    taken.add(id)
    return id
  }
}
