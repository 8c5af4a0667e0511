import { isJsonObject } from '../../src/core/json.ts'
import type { ModelMessage } from '../../src/views/model-message.ts'

/** Every rule that some provider has for the messages it is sent. */
export function findPromptProblem(prompt: readonly ModelMessage[]): string | undefined {
  const ids = new Set<string>()
  /** Calls that the provider runs itself and whose results have not been told yet. */
  const owed = new Set<string>()
  const messages = prompt.filter(({ role }) => role !== 'system')
  if (prompt.slice(0, prompt.length - messages.length).some(({ role }) => role !== 'system')) {
    return 'instructions in mid-conversation'
  }
  for (const [index, message] of messages.entries()) {
    if (message.content.length === 0) return `${index}: empty`
    const before = messages[index - 1]
    const after = messages[index + 1]
    if (message.role === 'user') {
      if (before?.role === 'user') return `${index}: two messages of the user in a row`
      if (message.content.some((part) => part.type === 'text' && part.text.trim() === '')) {
        return `${index}: blank text`
      }
    } else if (message.role === 'assistant') {
      const { content } = message
      const goesOn = content[0]?.type === 'tool-result' && owed.has(content[0].toolCallId)
      if (before === undefined) return `${index}: not its turn`
      if (before.role === 'assistant' && !goesOn) return `${index}: not its turn`
      const end = content.at(-1)?.type
      if (end === 'reasoning' || end === 'custom') return `${index}: ends in thought`
      const waiting: string[] = []
      for (const part of content) {
        if (part.type === 'text' && part.text.trim() === '' && !part.providerOptions) {
          return `${index}: blank text`
        }
        if (part.type === 'tool-result') {
          if (!owed.delete(part.toolCallId)) return `${index}: a result without its call`
        }
        if (part.type !== 'tool-call') continue
        if (ids.has(part.toolCallId)) return `${index}: the id ${part.toolCallId} twice`
        ids.add(part.toolCallId)
        if (!part.providerExecuted) waiting.push(part.toolCallId)
        else owed.add(part.toolCallId)
      }
      const answers = after?.role === 'tool' ? after.content : []
      const given = answers.flatMap((part) => (part.type === 'tool-result' ? [part] : []))
      const results = given.map((part) => part.toolCallId)
      if (waiting.join() !== results.join())
        return `${index}: ${waiting.join()} ≠ ${results.join()}`
      for (const result of given) {
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
  if (owed.size > 0) return `no result of ${[...owed].join()}`
  const last = messages.at(-1)
  return last?.role === 'assistant' ? 'the last word is the model’s' : undefined
}
