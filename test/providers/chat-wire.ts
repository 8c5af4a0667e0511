import { dataFrame, usage, type Wire, type WireItem } from './wire.ts'

const finishReasons = { stop: 'stop', 'tool-calls': 'tool_calls', length: 'length' } as const

const chunk = (delta: object, finishReason: string | null = null): string =>
  dataFrame({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'model-of-the-day',
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  })

/** OpenAI Chat Completions. */
export const chatWire: Wire = {
  frames(items, ending) {
    const frames = [chunk({ role: 'assistant', content: '' })]
    let index = 0
    for (const item of items) frames.push(...itemFrames(item, 'call' in item ? index++ : index))
    if (ending === 'nothing') return frames
    const usageChunk = {
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'model-of-the-day',
      choices: [],
      usage: {
        prompt_tokens: usage.input,
        completion_tokens: usage.output,
        total_tokens: usage.input + usage.output,
      },
    }
    return [...frames, chunk({}, finishReasons[ending]), dataFrame(usageChunk), 'data: [DONE]\n\n']
  },

  errorFrame: ({ type, message }) =>
    dataFrame({ error: { message, type, param: null, code: null } }),
}

function itemFrames(item: WireItem, index: number): readonly string[] {
  if ('text' in item) return item.text.map((content) => chunk({ content }))
  const { id, name, input } = item.call
  return [
    chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
    ...input.map((text) => chunk({ tool_calls: [{ index, function: { arguments: text } }] })),
  ]
}
