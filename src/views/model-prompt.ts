import type { Call } from '../core/call.ts'
import {
  isTurn,
  type Message,
  type Turn,
  type UserMessage,
  type UserPart,
} from '../core/message.ts'
import { withDefined } from '../core/with-defined.ts'
import type { ModelMessage, PromptFile, PromptText } from './model-message.ts'
import { projectPromptStep } from './prompt-step.ts'

export interface PromptOptions {
  /** What of a long result the model is sent. */
  readonly maxOutputChars?: number
}

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
  for (const message of messages) {
    if (isTurn(message)) addTurn(prompt, message, { ...options, idOf })
    else addUserMessage(prompt, message)
  }
  if (prompt.at(-1)?.role === 'assistant') addUserParts(prompt, [{ type: 'text', text: goOn }])
  return prompt
}

function addTurn(
  prompt: ModelMessage[],
  turn: Turn,
  options: PromptOptions & { readonly idOf: (call: Call) => string },
): void {
  for (const step of turn.steps) {
    const told = projectPromptStep(step, options)
    if (told === null) continue
    const before = prompt.at(-1)?.role
    // What the model was sent when it went on after text of its own; said again, it is the same prompt.
    if (before === 'assistant') addUserParts(prompt, [{ type: 'text', text: goOn }])
    if (before === undefined || before === 'system') {
      addUserParts(prompt, [{ type: 'text', text: beginning }])
    }
    prompt.push({ role: 'assistant', content: told.content })
    if (told.results.length > 0) prompt.push({ role: 'tool', content: told.results })
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

const sendableUrl = /^(?:https?:\/\/|data:[^,]*;base64,)/i
/** Of bytes of no kind no provider makes anything. */
const sendableType = /^[\w-]+\/(?!octet-stream$)\S+$/i

function toPromptPart(part: UserPart): readonly (PromptText | PromptFile)[] {
  if (part.type === 'text')
    return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }]
  const { url: data, mediaType, filename } = part
  if (!sendableUrl.test(data) || !sendableType.test(mediaType)) {
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
