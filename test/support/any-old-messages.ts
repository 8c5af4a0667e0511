import fc from 'fast-check'

const few = { maxLength: 4 }

/** A short list of things that look like messages and rows, with anything in any place. */
export const anyOldMessages = (): fc.Arbitrary<unknown[]> => fc.array(anyMessage(), few)

function anyMessage(): fc.Arbitrary<unknown> {
  const anything = fc.anything({
    maxDepth: 2,
    maxKeys: 3,
    withDate: true,
    withBigInt: true,
    withSparseArray: true,
  })
  const some = (...values: unknown[]) =>
    fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...values) },
      { weight: 1, arbitrary: anything },
    )
  const record = (fields: Record<string, fc.Arbitrary<unknown>>) =>
    fc.record(fields, { requiredKeys: [] })
  const id = some('a', 'b', 'c', '', 0, 7)
  const text = some('Hello', '', 'It is 18.', '{"city":"Par', '{"text":"x"}', '"quoted"', '[]')
  const json = some({ city: 'Oslo' }, {}, null, 0, '', false, [], '{"a":', '{"a":1}', {
    error: 'no',
  })
  const state = some(
    ...['partial-call', 'call', 'result', 'input-streaming', 'input-available', 'output-available'],
    ...['output-error', 'output-denied', 'approval-requested', 'approval-responded', 'new-state'],
    ...['succeeded', 'failed', 'denied', 'stopped', 'interrupted', 'unknown', 'running'],
    ...['awaiting-approval', 'completed', 'pending', 'error'],
  )
  const approval = record({ id, approved: some(true, false), reason: text })
  const validated = some('accepted', 'rejected', 'pending', 'not_required')
  const call = record({
    ...{ id, toolCallId: id, tool_call_id: id, name: text, toolName: text, tool: text },
    ...{ args: json, arguments: json, input: json, rawInput: json, result: json, output: json },
    ...{ state, status: state, step: some(0, 1, 2, -1, 1.5), error: text, errorText: text },
    ...{ function: record({ name: text, arguments: json }), isError: some(true, false) },
    ...{ approval, validated, commentary: text, cause: text, preliminary: some(true, false) },
    ...{
      startedAt: some(1, '2024-05-01'),
      completedAt: some(2, 'soon'),
      dynamic: some(true, false),
    },
  })
  const part = fc
    .tuple(
      some(
        ...['text', 'reasoning', 'tool-x', 'dynamic-tool', 'tool-invocation', 'step-start', 'file'],
        ...['tool-call', 'tool-result', 'image'],
      ),
      record({
        ...{ text, reasoning: text, toolInvocation: call, url: text, data: json, id, kind: text },
        ...{ source: record({ id, url: text, sourceType: some('url', 'document') }), title: text },
        ...{ providerMetadata: json, mediaType: text, mimeType: text, details: json },
      }),
      call,
    )
    .map(([type, fields, more]) => ({ ...more, ...fields, type }))
  const parts = fc.oneof(fc.array(part, few), anything)
  const calls = fc.oneof(fc.array(call, few), anything)
  const annotation = record({
    toolCallId: id,
    messageId: id,
    validated,
    isComplete: some(true, false),
  })
  const content = fc.oneof(
    text,
    parts,
    record({ ...{ text, content: json, tool_call_id: id, result: json } }),
  )
  const message = record({
    ...{ id, message_id: id, messageId: id, tool_call_id: id },
    ...{ role: some('user', 'assistant', 'assistant', 'tool', 'system') },
    ...{ content, parts, toolInvocations: calls, toolCalls: calls, tool_calls: calls },
    ...{ annotations: fc.array(annotation, few), experimental_attachments: parts, files: parts },
    ...{ metadata: record({ parts, tools_used: calls, other: json }), toolActivity: json },
    ...{ isComplete: some(true, false), createdAt: some(1, '2024-05-01'), reasoning: text },
  })
  const row = fc
    .tuple(message, some('USER', 'AI_TOOL', 'TOOL', 'AI_MESSAGE', 'SYSTEM', 'ai_tool'))
    .map(([fields, entity]) => ({ ...fields, entity }))
  return fc.oneof(
    { weight: 5, arbitrary: message },
    { weight: 3, arbitrary: row },
    { weight: 1, arbitrary: anything },
  )
}
