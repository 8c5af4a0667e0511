import type { LanguageModel } from 'ai'
import type { Json } from '../core/json.ts'

export type DemoLanguageModel = Exclude<LanguageModel, string> & {
  readonly specificationVersion: 'v4'
}
export type DemoCallOptions = Parameters<DemoLanguageModel['doStream']>[0]
type Prompt = DemoCallOptions['prompt']

/** What the demo model uses of the prompt: the last request, and the results of its calls since. */
export interface DemoConversation {
  readonly text: string
  readonly results: readonly DemoResult[]
  /** What it has answered since, if it was asked to continue. */
  readonly answered: string
  /** The number of calls so far: the next one's number. */
  readonly calls: number
  /** The number of user messages so far. */
  readonly messages: number
}

export interface DemoResult {
  readonly name: string
  readonly input: Json
  readonly outcome:
    | { readonly ok: true; readonly value: Json }
    | { readonly ok: false; readonly error: string }
}

/** The user message that the engine adds when a turn is continued, or resumed after it was broken off. */
const goOn = 'Continue from where you stopped.'
const carryOnBeginning = 'Your answer above was broken off'
const isFromEngine = (text: string): boolean => text === goOn || text.startsWith(carryOnBeginning)

export function readDemoPrompt(prompt: Prompt): DemoConversation {
  let text = ''
  let answered = ''
  let messages = 0
  const inputs = new Map<string, Json>()
  let results: DemoResult[] = []
  for (const message of prompt) {
    if (message.role === 'user') {
      for (const part of message.content) {
        if (part.type !== 'text' || isFromEngine(part.text)) continue
        text = part.text
        answered = ''
        messages++
        results = []
      }
    } else if (message.role === 'assistant') {
      for (const part of message.content) {
        if (part.type === 'text') answered += part.text
        if (part.type === 'tool-call') inputs.set(part.toolCallId, part.input as Json)
      }
    } else if (message.role === 'tool') {
      for (const part of message.content) {
        if (part.type !== 'tool-result') continue
        const input = inputs.get(part.toolCallId) ?? null
        results.push({ name: part.toolName, input, outcome: toOutcome(part.output) })
      }
    }
  }
  return { text, answered, results, messages, calls: inputs.size }
}

function toOutcome(output: {
  readonly type: string
  readonly value?: unknown
  readonly reason?: unknown
}): DemoResult['outcome'] {
  switch (output.type) {
    case 'json':
    case 'text':
    case 'content':
      return { ok: true, value: (output.value ?? null) as Json }
    case 'error-text':
      return { ok: false, error: String(output.value) }
    default:
      return { ok: false, error: JSON.stringify(output.value ?? output.reason ?? 'no result') }
  }
}
