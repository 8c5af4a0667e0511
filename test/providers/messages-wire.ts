import { namedFrame, usage, type Wire, type WireItem } from './wire.ts'

const stopReasons = { stop: 'end_turn', 'tool-calls': 'tool_use', length: 'max_tokens' } as const

/** Anthropic Messages. */
export const messagesWire: Wire = {
  frames(items, ending) {
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'model-of-the-day',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: usage.input, output_tokens: 1 },
    }
    const frames = [
      namedFrame({ type: 'message_start', message }),
      ...items.flatMap((item, index) => itemFrames(item, index)),
    ]
    if (ending === 'nothing') return frames
    const end = {
      type: 'message_delta',
      delta: { stop_reason: stopReasons[ending], stop_sequence: null },
      usage: { output_tokens: usage.output },
    }
    return [...frames, namedFrame(end), namedFrame({ type: 'message_stop' })]
  },

  errorFrame: (error) => namedFrame({ type: 'error', error }),
}

function itemFrames(item: WireItem, index: number): readonly string[] {
  const content_block =
    'text' in item
      ? { type: 'text', text: '' }
      : { type: 'tool_use', id: item.call.id, name: item.call.name, input: {} }
  const deltas =
    'text' in item
      ? item.text.map((text) => ({ type: 'text_delta', text }))
      : item.call.input.map((partial_json) => ({ type: 'input_json_delta', partial_json }))
  const frames = [
    namedFrame({ type: 'content_block_start', index, content_block }),
    ...deltas.map((delta) => namedFrame({ type: 'content_block_delta', index, delta })),
  ]
  return item.open === true
    ? frames
    : [...frames, namedFrame({ type: 'content_block_stop', index })]
}
