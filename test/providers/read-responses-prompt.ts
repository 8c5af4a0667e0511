import { z } from 'zod'
import {
  findPairProblems,
  parseArguments,
  type SentCall,
  type SentPrompt,
  type SentResult,
} from './sent-prompt.ts'
import { isJsonObject } from '../../src/core/json.ts'

const text = z.union([z.string(), z.array(z.object({ type: z.string(), text: z.string() }))])
const item = z.union([
  z.object({
    type: z.literal('function_call'),
    call_id: z.string().min(1),
    name: z.string().regex(/^[\w-]{1,64}$/),
    arguments: z.string(),
  }),
  z.object({ type: z.literal('function_call_output'), call_id: z.string(), output: z.string() }),
  z.object({ type: z.literal('item_reference'), id: z.string().min(1) }),
  z.object({ type: z.literal('reasoning'), encrypted_content: z.string().nullish() }),
  z.object({ role: z.enum(['system', 'developer', 'user', 'assistant']), content: text }),
])
const request = z.object({ input: z.array(item).min(1) })

/** Responses: items in a row; a call and its result find each other by id. */
export function readResponsesPrompt(body: unknown): SentPrompt {
  const { input } = request.parse(body)
  const said: string[] = []
  const calls: SentCall[] = []
  const results: SentResult[] = []
  const problems: string[] = []
  const references: string[] = []
  for (const each of input) {
    if ('role' in each) {
      const content = typeof each.content === 'string' ? each.content : join(each.content)
      if (content === '') problems.push(`an empty message of ${each.role}`)
      said.push(`${each.role}: ${content}`)
    } else if (each.type === 'function_call') {
      const parsed = parseArguments(each.arguments)
      if (!isJsonObject(parsed)) problems.push(`the arguments of ${each.call_id} are no object`)
      calls.push({ id: each.call_id, name: each.name, input: parsed })
    } else if (each.type === 'function_call_output') {
      if (!calls.some(({ id }) => id === each.call_id)) {
        problems.push(`the result of ${each.call_id} stands before its call`)
      }
      results.push({ id: each.call_id, text: each.output })
    } else if (each.type === 'item_reference') {
      if (references.includes(each.id)) problems.push(`${each.id} is referred to twice`)
      references.push(each.id)
    }
  }
  const last = input.at(-1)
  if (last !== undefined && 'role' in last && last.role === 'assistant') {
    problems.push('the last word is the model’s')
  }
  return { said, calls, results, problems: [...problems, ...findPairProblems(calls, results)] }
}

const join = (parts: readonly { readonly text: string }[]): string =>
  parts.map((part) => part.text).join('')
