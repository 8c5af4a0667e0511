import { z } from 'zod'
import {
  findPairProblems,
  parseArguments,
  type SentCall,
  type SentPrompt,
  type SentResult,
} from './sent-prompt.ts'
import { isJsonObject } from '../../src/core/json.ts'

const content = z.union([z.string(), z.array(z.object({ text: z.string() }))]).nullish()
const toolCall = z.object({
  id: z.string().min(1),
  type: z.literal('function'),
  function: z.object({ name: z.string().regex(/^[\w-]{1,64}$/), arguments: z.string() }),
})
const message = z.discriminatedUnion('role', [
  z.object({ role: z.enum(['system', 'developer', 'user']), content }),
  z.object({ role: z.literal('assistant'), content, tool_calls: z.array(toolCall).optional() }),
  z.object({ role: z.literal('tool'), tool_call_id: z.string(), content }),
])
const request = z.object({ messages: z.array(message).min(1) })

/** Chat Completions: the messages after a message with calls are their results, all of them. */
export function readChatPrompt(body: unknown): SentPrompt {
  const { messages } = request.parse(body)
  const said: string[] = []
  const calls: SentCall[] = []
  const results: SentResult[] = []
  const problems: string[] = []
  for (const [index, each] of messages.entries()) {
    const text = textOf(each.content)
    if (each.role === 'tool') {
      results.push({ id: each.tool_call_id, text })
      const before = messages.slice(0, index).findLast(({ role }) => role !== 'tool')
      const asked = before?.role === 'assistant' ? (before.tool_calls ?? []) : []
      if (!asked.some(({ id }) => id === each.tool_call_id)) {
        problems.push(`the result of ${each.tool_call_id} does not stand behind its call`)
      }
      continue
    }
    if (text !== '') said.push(`${each.role}: ${text}`)
    if (each.role !== 'assistant') continue
    const asked = each.tool_calls ?? []
    if (text === '' && asked.length === 0) problems.push(`message ${index} is empty`)
    for (const { id, function: called } of asked) {
      const input = parseArguments(called.arguments)
      if (!isJsonObject(input)) problems.push(`the arguments of ${id} are no object`)
      calls.push({ id, name: called.name, input })
    }
    const answers = messages.slice(index + 1, index + 1 + asked.length)
    if (answers.length < asked.length || answers.some(({ role }) => role !== 'tool')) {
      problems.push(`message ${index} has calls that are not answered at once`)
    }
  }
  if (messages.at(-1)?.role === 'assistant') problems.push('the last word is the model’s')
  return { said, calls, results, problems: [...problems, ...findPairProblems(calls, results)] }
}

function textOf(value: z.infer<typeof content>): string {
  if (value == null) return ''
  return typeof value === 'string' ? value : value.map(({ text }) => text).join('')
}
