import { z } from 'zod'
import { findPairProblems, type SentCall, type SentPrompt, type SentResult } from './sent-prompt.ts'
import { isJsonObject } from '../../src/core/json.ts'

const textBlock = z.object({ type: z.literal('text'), text: z.string() })
const block = z.discriminatedUnion('type', [
  textBlock,
  z.object({
    type: z.literal('tool_use'),
    id: z.string().regex(/^[\w-]+$/),
    name: z.string().regex(/^[\w-]{1,64}$/),
    input: z.unknown(),
  }),
  z.object({
    type: z.literal('tool_result'),
    tool_use_id: z.string(),
    content: z.union([z.string(), z.array(textBlock)]),
    is_error: z.boolean().optional(),
  }),
  z.object({ type: z.literal('thinking'), thinking: z.string(), signature: z.string().min(1) }),
  z.object({ type: z.literal('redacted_thinking'), data: z.string().min(1) }),
])
const message = z.object({ role: z.enum(['user', 'assistant']), content: z.array(block).min(1) })
const request = z.object({ messages: z.array(message).min(1) })

/** Messages: users and the model take turns, and what follows a call is its result. */
export function readMessagesPrompt(body: unknown): SentPrompt {
  const { messages } = request.parse(body)
  const said: string[] = []
  const calls: SentCall[] = []
  const results: SentResult[] = []
  const problems: string[] = []
  for (const [index, { role, content }] of messages.entries()) {
    if (role !== (index % 2 === 0 ? 'user' : 'assistant'))
      problems.push(`message ${index}: ${role}`)
    const asked: SentCall[] = []
    const answered: SentResult[] = []
    for (const each of content) {
      if (each.type === 'text') {
        if (each.text.trim() === '') problems.push(`message ${index} has blank text`)
        said.push(`${role}: ${each.text}`)
      } else if (each.type === 'tool_use') {
        if (!isJsonObject(each.input)) problems.push(`the arguments of ${each.id} are no object`)
        asked.push({ id: each.id, name: each.name, input: each.input })
      } else if (each.type === 'tool_result') {
        const isFirst = content.indexOf(each) === answered.length
        if (!isFirst) problems.push(`message ${index} has something before its results`)
        answered.push({ id: each.tool_use_id, text: textOf(each.content) })
      }
    }
    const next = messages[index + 1]?.content ?? []
    const answers = next.flatMap((each) =>
      each.type === 'tool_result' ? [{ id: each.tool_use_id }] : [],
    )
    if (role === 'assistant') problems.push(...findPairProblems(asked, answers))
    calls.push(...asked)
    results.push(...answered)
  }
  if (messages.at(-1)?.role === 'assistant') problems.push('the last word is the model’s')
  return { said, calls, results, problems: [...problems, ...findPairProblems(calls, results)] }
}

const textOf = (content: string | readonly { readonly text: string }[]): string =>
  typeof content === 'string' ? content : content.map(({ text }) => text).join('')
