import type { PromptMessage } from '../scripted-model.ts'

interface PromptPart {
  readonly type: string
  readonly toolCallId?: string
  readonly text?: string
  readonly providerExecuted?: boolean
}

/** What a provider would refuse about a prompt (ST3), or undefined. */
export function findPromptFault(prompt: readonly PromptMessage[]): string | undefined {
  const messages = prompt.filter(({ role }) => role !== 'system')
  if (messages[0]?.role !== 'user') return 'does not begin with a user'
  const last = messages.at(-1)?.role
  if (last !== 'user' && last !== 'tool') return `ends with ${last}`
  const seen = new Set<string>()
  for (const [index, message] of messages.entries()) {
    const parts = partsOf(message)
    if (parts.length === 0) return `has an empty ${message.role} message`
    if (parts.some((part) => part.type === 'text' && part.text?.trim() === '')) {
      return `has blank text in a ${message.role} message`
    }
    const before = messages[index - 1]
    const fault =
      message.role === 'assistant'
        ? findAssistantFault(parts, messages[index + 1], seen)
        : message.role === 'tool'
          ? before?.role === 'assistant'
            ? undefined
            : 'has results after no call'
          : before?.role === 'user'
            ? 'has two user messages in a row'
            : undefined
    if (fault !== undefined) return fault
  }
  return undefined
}

function findAssistantFault(
  parts: readonly PromptPart[],
  next: PromptMessage | undefined,
  seen: Set<string>,
): string | undefined {
  const calls = parts.filter(({ type }) => type === 'tool-call')
  for (const { toolCallId = '' } of calls) {
    if (seen.has(toolCallId)) return `has the call ${toolCallId} twice`
    seen.add(toolCallId)
  }
  const own = calls.filter((call) => call.providerExecuted !== true)
  const results = next?.role === 'tool' ? partsOf(next) : []
  const wanted = own.map(({ toolCallId }) => toolCallId)
  const given = new Set(results.map(({ toolCallId }) => toolCallId))
  const isAnswered = given.size === results.length && given.size === wanted.length
  if (!isAnswered || wanted.some((id) => !given.has(id))) {
    return `has calls [${wanted.join()}] followed by results [${[...given].join()}]`
  }
  if (own.length === 0 && next?.role !== 'user') return `has ${next?.role} after the assistant`
  return undefined
}

const partsOf = ({ content }: PromptMessage): readonly PromptPart[] =>
  typeof content === 'string'
    ? [{ type: 'text', text: content }]
    : (content as readonly PromptPart[])
