/**
 * Exports of teams that come from other systems, as long as theirs and as uneven: every state that a
 * call can have been left in, JSON in text columns, newest first, in pages. Each says what has to come
 * of it. The same on every run.
 */
export interface OldSystem {
  /** The file as it lies there. */
  readonly text: string
  readonly messages: number
  readonly callsByState: Readonly<Record<string, number>>
  /** What the thread says, oldest first. */
  readonly contents: readonly string[]
}

const turns = 150
const numbers = Array.from({ length: turns }, (_, index) => index)
const start = Date.parse('2024-03-01T08:00:00Z')
/** A turn takes a minute; its rows share a second now and then. */
const at = (turn: number, row: number) =>
  new Date(start + turn * 60_000 + Math.floor(row / 2) * 1_000).toISOString()

const question = (turn: number) => `Question ${turn}`
const answer = (turn: number) => `Answer ${turn}`
const contents = numbers.flatMap((turn) => [question(turn), answer(turn)])

/** How the call of a turn was left, and what it is then. */
const endings = [
  { validated: null, isComplete: true, result: { degrees: 3 }, state: 'succeeded' },
  { validated: true, isComplete: true, result: '', state: 'succeeded' },
  { validated: false, isComplete: true, result: 'No, keep it.', state: 'denied' },
  { validated: 'REJECTED', isComplete: false, result: null, state: 'denied' },
  { validated: 'not_required', isComplete: false, result: [1, 2], state: 'stopped' },
  { validated: 'accepted', isComplete: false, result: null, state: 'interrupted' },
  { validated: null, isComplete: true, result: { error: 'No network.' }, state: 'failed' },
  { validated: null, isComplete: true, result: undefined, state: 'interrupted' },
] as const

const endingOf = (turn: number) => endings[turn % endings.length] as (typeof endings)[number]

function countStates(states: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const state of states) counts[state] = (counts[state] ?? 0) + 1
  return counts
}

const pagesOf = (items: readonly object[], size: number): readonly (readonly object[])[] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, page) =>
    items.slice(page * size, (page + 1) * size),
  )

/** A: rows of a table, newest first, a page of the list route on each line. */
function rows(): OldSystem {
  const list = numbers.flatMap((turn) => {
    const { validated, isComplete, result } = endingOf(turn)
    const callId = `call_${turn % 7}`
    const row = (nth: number, entity: string, content: unknown, more: object = {}) => ({
      message_id: `row-${String(turn * 4 + nth).padStart(6, '0')}`,
      entity,
      content: JSON.stringify(content),
      is_complete: 1,
      creation_date: at(turn, nth),
      tool_calls: '[]',
      ...more,
    })
    const call = {
      toolCallId: callId,
      name: 'delete_note',
      arguments: '{"title":"Ideas"}',
      validated,
    }
    const given = { tool_call_id: callId, content: result }
    return [
      row(0, 'USER', { text: question(turn) }),
      row(1, 'AI_TOOL', { text: 'Looking.' }, { tool_calls: JSON.stringify([call]) }),
      ...(result === undefined ? [] : [row(2, 'TOOL', given, { is_complete: isComplete ? 1 : 0 })]),
      row(3, 'AI_MESSAGE', { text: answer(turn) }),
    ]
  })
  const pages = pagesOf(list.toReversed(), 37)
  const text = pages
    .map((results, page) => {
      const has_more = page < pages.length - 1
      return JSON.stringify({
        next_cursor: has_more ? `c${page}` : null,
        has_more,
        page_size: 37,
        results,
      })
    })
    .join('\n')
  const callsByState = countStates(numbers.map((turn) => endingOf(turn).state))
  return { text, messages: turns * 2, callsByState, contents }
}

/** B: a table of calls beside the messages, joined; whatever a dead process left is still partial. */
function joinedCalls(): OldSystem {
  const list = numbers.flatMap((turn) => {
    const { result, state } = endingOf(turn)
    const status = { succeeded: 'completed', denied: 'rejected', stopped: 'cancelled' } as const
    const word = state in status ? status[state as keyof typeof status] : 'running'
    const isFailed = state === 'failed'
    const call = {
      ...{ id: `b-${turn}`, name: 'search', arguments: '{"q":"x"}' },
      ...(isFailed ? { status: 'error', error: 'No network.' } : { status: word }),
      ...(word === 'running' || isFailed ? {} : { result }),
    }
    return [
      { id: `u-${turn}`, role: 'user', content: question(turn), created_at: at(turn, 0) },
      {
        id: `a-${turn}`,
        role: 'assistant',
        content: answer(turn),
        created_at: at(turn, 2),
        tool_calls: [call],
      },
    ]
  })
  const callsByState = countStates(numbers.map((turn) => endingOf(turn).state))
  return {
    text: JSON.stringify({ data: list.toReversed() }),
    messages: turns * 2,
    callsByState,
    contents,
  }
}

/** C: text, with the cards in the metadata, which is a text column; artifacts among them. */
function cards(): OldSystem {
  const states: string[] = []
  const list = numbers.flatMap((turn) => {
    const text = { type: 'text', text: answer(turn) }
    const card = {
      type: 'tool-weather',
      toolCallId: 'call_weather',
      state: 'output-available',
      input: {},
      output: turn,
    }
    const artifact = {
      type: 'tool-generate_afl_code',
      id: `x${turn}`,
      language: 'afl',
      code: 'Buy = 1;',
    }
    const metadata = [
      { parts: [card, text] },
      { parts: [artifact, text] },
      { tools_used: [{ tool: 'get_stock_data', input: { ticker: 'A' }, result: { price: 0 } }] },
      { parts: [text], tools_used: [{ tool: 'search', status: 'running' }] },
    ][turn % 4]
    states.push(turn % 4 === 3 ? 'interrupted' : 'succeeded')
    return [
      { id: turn * 2, role: 'user', msg_content: question(turn), created_at: at(turn, 0) },
      {
        ...{
          id: turn * 2 + 1,
          role: 'assistant',
          msg_content: answer(turn),
          created_at: at(turn, 0),
        },
        ...(turn % 3 === 0 ? { parts: [text] } : {}),
        metadata: JSON.stringify(metadata),
      },
    ]
  })
  const text = JSON.stringify(list.toReversed(), null, 1)
  return { text, messages: turns * 2, callsByState: countStates(states), contents }
}

/** D: AI SDK 4 messages with annotations, in the pages of their list route, one file after the other. */
function pagedMessages(): OldSystem {
  const list = numbers.flatMap((turn) => {
    const { validated, isComplete, result } = endingOf(turn)
    const toolCallId = `d-${turn}`
    const toolInvocation = {
      ...{ toolCallId, toolName: 'delete_note', args: { title: 'Ideas' } },
      ...(result === undefined ? { state: 'call' } : { state: 'result', result }),
    }
    const parts = [
      { type: 'tool-invocation', toolInvocation },
      { type: 'text', text: answer(turn) },
    ]
    const annotations = [{ toolCallId, validated, isComplete }]
    return [
      { id: `u-${turn}`, role: 'user', content: question(turn), createdAt: at(turn, 0) },
      {
        id: `a-${turn}`,
        role: 'assistant',
        content: answer(turn),
        createdAt: at(turn, 2),
        parts,
        annotations,
      },
    ]
  })
  const pages = pagesOf(list.toReversed(), 25)
  const text = pages
    .map((results, page) =>
      JSON.stringify({ results, nextCursor: 'c', hasMore: page < pages.length - 1 }, null, 2),
    )
    .join('\n')
  const callsByState = countStates(numbers.map((turn) => endingOf(turn).state))
  return { text, messages: turns * 2, callsByState, contents }
}

/** E: commentary in the content, and an activity that says that it is still at work. */
function commentary(): OldSystem {
  const list = numbers.flatMap((turn) => {
    const isLast = turn === turns - 1
    const toolCalls = [
      {
        id: `e-${turn}`,
        name: 'search',
        args: {},
        status: 'completed',
        result: 0,
        commentary: 'Let me look.',
      },
      {
        id: `f-${turn}`,
        name: 'read',
        args: {},
        status: isLast ? 'running' : 'error',
        error: isLast ? undefined : 'Gone.',
      },
    ]
    return [
      { id: `u-${turn}`, role: 'user', content: question(turn), createdAt: at(turn, 0) },
      {
        ...{ id: `a-${turn}`, role: 'assistant', createdAt: at(turn, 4), toolCalls },
        content: `Let me look.\n\n${answer(turn)}`,
        toolActivity: { isActive: isLast, currentStep: isLast ? 'read' : undefined },
      },
    ]
  })
  const callsByState = { succeeded: turns, failed: turns - 1, interrupted: 1 }
  const text = list
    .map((message) => JSON.stringify({ conversation_id: 'old', ...message }))
    .join('\n')
  return { text, messages: turns * 2, callsByState, contents }
}

export const oldSystems: Readonly<Record<string, OldSystem>> = {
  'A, rows of a table': rows(),
  'B, calls beside the messages': joinedCalls(),
  'C, cards in the metadata': cards(),
  'D, pages of AI SDK 4 messages': pagedMessages(),
  'E, commentary in the content': commentary(),
}
