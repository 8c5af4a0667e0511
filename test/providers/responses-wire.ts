import { namedFrame, usage, type Wire, type WireItem } from './wire.ts'

const response = (more: object) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  model: 'model-of-the-day',
  output: [],
  ...more,
})

/** OpenAI Responses. */
export const responsesWire: Wire = {
  frames(items, ending) {
    const frames = [
      namedFrame({ type: 'response.created', response: response({ status: 'in_progress' }) }),
      ...items.flatMap((item, index) => itemFrames(item, index)),
    ]
    if (ending === 'nothing') return frames
    const counts = {
      input_tokens: usage.input,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: usage.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: usage.input + usage.output,
    }
    const end =
      ending === 'length'
        ? {
            type: 'response.incomplete',
            response: response({
              status: 'incomplete',
              incomplete_details: { reason: 'max_output_tokens' },
              usage: counts,
            }),
          }
        : {
            type: 'response.completed',
            response: response({ status: 'completed', usage: counts }),
          }
    return [...frames, namedFrame(end)]
  },

  errorFrame: ({ type, message }) =>
    namedFrame({ type: 'error', sequence_number: 9, code: type, message, param: null }),
}

function itemFrames(item: WireItem, output_index: number): readonly string[] {
  if ('text' in item) {
    const id = `msg_${output_index}`
    const message = { type: 'message', id, role: 'assistant', status: 'in_progress', content: [] }
    const said = item.text.map((delta) =>
      namedFrame({
        type: 'response.output_text.delta',
        item_id: id,
        output_index,
        content_index: 0,
        delta,
      }),
    )
    const begin = namedFrame({ type: 'response.output_item.added', output_index, item: message })
    const text = { type: 'output_text', text: item.text.join(''), annotations: [] }
    const done = { ...message, status: 'completed', content: [text] }
    const end = namedFrame({ type: 'response.output_item.done', output_index, item: done })
    return item.open === true ? [begin, ...said] : [begin, ...said, end]
  }
  const { id: call_id, name, input } = item.call
  const id = `fc_${output_index}`
  const call = { type: 'function_call', id, call_id, name, arguments: '', status: 'in_progress' }
  const said = input.map((delta) =>
    namedFrame({
      type: 'response.function_call_arguments.delta',
      item_id: id,
      output_index,
      delta,
    }),
  )
  const begin = namedFrame({ type: 'response.output_item.added', output_index, item: call })
  const done = { ...call, arguments: input.join(''), status: 'completed' }
  const end = namedFrame({ type: 'response.output_item.done', output_index, item: done })
  return item.open === true ? [begin, ...said] : [begin, ...said, end]
}
