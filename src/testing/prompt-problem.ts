import { isJsonObject } from '../core/json.ts'
import type { ModelMessage } from '../views/model-message.ts'

/** Every rule that some provider has for the messages it is sent. */
export function findPromptProblem(prompt: readonly ModelMessage[]): string | undefined {
  const ids = new Set<string>()
  const talk = prompt.filter(({ role }) => role !== 'system')
  if (prompt.slice(0, prompt.length - talk.length).some(({ role }) => role !== 'system')) {
    return 'instructions in mid-conversation'
  }
  for (const [index, message] of talk.entries()) {
    if (message.content.length === 0) return `${index}: empty`
    const before = talk[index - 1]
    const after = talk[index + 1]
    if (message.role === 'user') {
      if (before?.role === 'user') return `${index}: two messages of the user in a row`
      if (message.content.some((part) => part.type === 'text' && part.text.trim() === '')) {
        return `${index}: blank text`
      }
    } else if (message.role === 'assistant') {
      if (before === undefined || before.role === 'assistant') return `${index}: not its turn`
      const { content } = message
      const end = content.at(-1)?.type
      if (end === 'reasoning' || end === 'custom') return `${index}: ends in thought`
      const waiting: string[] = []
      for (const [place, part] of content.entries()) {
        if (part.type === 'text' && part.text.trim() === '' && !part.providerOptions) {
          return `${index}: blank text`
        }
        if (part.type === 'tool-result') {
          const call = content[place - 1]
          const isOwn = call?.type === 'tool-call' && call.toolCallId === part.toolCallId
          if (!isOwn || !call.providerExecuted) return `${index}: a result without its call`
        }
        if (part.type !== 'tool-call') continue
        if (ids.has(part.toolCallId)) return `${index}: the id ${part.toolCallId} twice`
        ids.add(part.toolCallId)
        if (!part.providerExecuted) waiting.push(part.toolCallId)
        else if (content[place + 1]?.type !== 'tool-result') return `${index}: no result inside`
      }
      const results = after?.role === 'tool' ? after.content.map((part) => part.toolCallId) : []
      if (waiting.join() !== results.join())
        return `${index}: ${waiting.join()} ≠ ${results.join()}`
      for (const result of after?.role === 'tool' ? after.content : []) {
        const call = content.find(
          (part) => part.type === 'tool-call' && part.toolCallId === result.toolCallId,
        )
        if (call?.type !== 'tool-call') return `${index}: a result without its call`
        const { input, toolCallId, toolName } = call
        const isText = typeof input === 'string' && call.providerOptions !== undefined
        if (!isJsonObject(input) && !isText) return `${index}: arguments that are no object`
        if (!/^[\w-]{1,40}$/.test(toolCallId)) return `${index}: the id ${toolCallId}`
        if (!/^[\w-]{1,64}$/.test(toolName)) return `${index}: the name ${toolName}`
      }
    } else if (before?.role !== 'assistant') return `${index}: results of nothing`
  }
  const last = talk.at(-1)
  return last?.role === 'assistant' ? 'the last word is the model’s' : undefined
}
