import { createRequire } from 'node:module'
import { describe, expect, test } from 'vitest'
import type { TurnEventBody } from '../core/event.ts'
import { parseCallId } from '../core/ids.ts'
import { callsOf, type Turn } from '../core/message.ts'
import { createRandom } from '../testing/random.ts'
import { turnOf } from '../../test/support/turn-of.ts'
import type { UiChunk } from './ui-chunk.ts'
import { createUiChunkCursor, nextChunks, type UiChunkCursor } from './ui-chunks.ts'
import { projectUiMessage, type UiMessage } from './ui-message.ts'
import type { SdkVersion } from './ui-vocabulary.ts'
import { turnStates } from '../../test/support/turn-states.ts'
import * as ai7 from 'ai'

const require = createRequire(import.meta.url)

interface Sdk {
  readonly DefaultChatTransport: new (options: { fetch: typeof fetch }) => {
    reconnectToStream(options: { chatId: string }): Promise<ReadableStream<unknown> | null>
  }
  readUIMessageStream(options: {
    stream: ReadableStream<unknown>
    message?: UiMessage | undefined
    onError: (error: unknown) => void
  }): AsyncIterable<{ metadata?: { probe?: number } }>
}
const sdks: Readonly<Record<SdkVersion, Sdk>> = {
  5: require('ai5') as Sdk,
  6: require('ai6') as Sdk,
  7: ai7 as unknown as Sdk,
}
const allVersions = [5, 6, 7] as const

const seedsFrom = (first: number, count: number) =>
  Array.from({ length: count }, (_, index) => first + index)

/** The chunks of each move from one state to the next. */
function follow(cursor: UiChunkCursor, states: readonly Turn[]): readonly (readonly UiChunk[])[] {
  let at = cursor
  return states.map((turn) => {
    const next = nextChunks(at, turn)
    at = next.cursor
    return next.chunks
  })
}

/**
 * The message that an unmodified client of the SDK has built after each batch: over HTTP, with its own
 * parsing and checks. A `start` with a number in its metadata marks the end of each batch.
 */
async function readClient(
  version: SdkVersion,
  id: string,
  batches: readonly (readonly UiChunk[])[],
  message?: UiMessage,
): Promise<readonly UiMessage[]> {
  const marked = batches.flatMap((batch, probe) => [
    ...batch,
    { type: 'start', messageId: id, messageMetadata: { probe } },
  ])
  const body = marked.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')
  const sdk = sdks[version]
  const transport = new sdk.DefaultChatTransport({
    fetch: () => Promise.resolve(new Response(`${body}data: [DONE]\n\n`)),
  })
  const stream = await transport.reconnectToStream({ chatId: 'chat' })
  const built: UiMessage[] = []
  const errors: string[] = []
  const onError = (error: unknown) => errors.push(String(error))
  for await (const snapshot of sdk.readUIMessageStream({ stream: stream!, message, onError })) {
    const probe = snapshot.metadata?.probe
    if (probe !== undefined && built[probe] === undefined) built[probe] = withoutProbe(snapshot)
  }
  expect(errors.filter((error) => error !== 'Error: The provider said no.')).toEqual([])
  expect(built.length).toBe(batches.length)
  return built
}

function withoutProbe(snapshot: unknown): UiMessage {
  const { metadata, ...message } = roundTrip(snapshot) as { metadata: { probe?: number } }
  const { probe: _, ...rest } = metadata
  return (Object.keys(rest).length === 0 ? message : { ...message, metadata: rest }) as UiMessage
}

const roundTrip = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

const pageOf = (turn: Turn, sdk?: SdkVersion): UiMessage =>
  (roundTrip(projectUiMessage(turn, sdk === undefined ? {} : { sdk })) as UiMessage | null) ??
  empty(turn)

const empty = (turn: Turn): UiMessage => {
  const base = { id: turn.id, role: 'assistant', parts: [] } as const
  return turn.metadata === undefined ? base : { ...base, metadata: turn.metadata }
}

const mapParts = (message: UiMessage, change: (part: Tool) => object | null): UiMessage => ({
  ...message,
  parts: message.parts.flatMap((part) => (change(part as Tool) ?? []) as never[]),
})
type Tool = { type: string; state?: string; approval?: { id: string } }

/** The one thing that AI SDK 6 has no chunk for: how an approval was decided. */
const withoutDecisions = (message: UiMessage): UiMessage =>
  mapParts(message, (part) =>
    part.approval === undefined ? part : { ...part, approval: { id: part.approval.id } },
  )

/** What a client without a version may lack: the approval of a call that no longer waits. */
const withoutPastApprovals = (message: UiMessage): UiMessage =>
  mapParts(message, ({ approval, ...part }) =>
    approval === undefined || part.state !== 'approval-requested' ? part : { ...part, approval },
  )

const expected = (turn: Turn, sdk: SdkVersion): UiMessage =>
  sdk === 6 ? withoutDecisions(pageOf(turn, sdk)) : pageOf(turn, sdk)

const wasReopened = (states: readonly Turn[]): boolean =>
  states.some(
    (turn, index) =>
      turn.progress.status === 'running' && states[index - 1]?.progress.status === 'ended',
  )

describe.each(allVersions)('a client of AI SDK %i', { timeout: 30_000 }, (sdk) => {
  test('[LG4] [FD1] has what a reload shows, after every event', async () => {
    for (const states of seedsFrom(0, 25).flatMap(turnStates)) {
      const built = await readClient(
        sdk,
        states[0]!.id,
        follow(createUiChunkCursor({ sdk }), states),
      )
      expect(built).toEqual(states.map((turn) => expected(turn, sdk)))
    }
  })

  test('[LG4] has what a reload shows, whatever states it missed', async () => {
    for (const seed of seedsFrom(1000, 25)) {
      const random = createRandom(seed)
      for (const all of turnStates(seed)) {
        const states = all.filter((turn) => turn === all.at(-1) || random.chance(0.15))
        const cursor = createUiChunkCursor({ sdk })
        const built = await readClient(sdk, all[0]!.id, follow(cursor, states))
        expect(built).toEqual(states.map((turn) => expected(turn, sdk)))
      }
    }
  })

  test('[RS3] has what a reload shows when the turn is replayed from nothing', async () => {
    for (const seed of seedsFrom(2000, 25)) {
      const random = createRandom(seed)
      for (const states of turnStates(seed)) {
        for (const turn of [states.at(-1)!, random.pick(states), random.pick(states)]) {
          const batches = follow(createUiChunkCursor({ sdk }), [turn])
          expect(await readClient(sdk, turn.id, batches)).toEqual([expected(turn, sdk)])
        }
      }
    }
  })

  test('[AP5] goes on from a page of a turn that waited', async () => {
    let continued = 0
    for (const states of seedsFrom(3000, 30).flatMap(turnStates)) {
      const from = states.findIndex((turn) => turn.progress.status === 'waiting')
      const rest = states.slice(from + 1)
      if (from === -1 || rest.length === 0) continue
      continued += 1
      const sent = states[from]!
      const batches = follow(createUiChunkCursor({ sdk, sent }), rest)
      // AI SDK 5 has no chunk for a decision, so there may be no chunks.
      expect(batches.flat()[0]?.type ?? 'start').toBe('start')
      const page = sdk === 6 ? withoutDecisions(pageOf(sent, sdk)) : pageOf(sent, sdk)
      const built = await readClient(sdk, sent.id, batches, page)
      expect(built).toEqual(rest.map((turn) => expected(turn, sdk)))
    }
    expect(continued).toBeGreaterThan(5)
  })

  test('[LG4 OP7] has what a reload shows of arguments that are longer than what is shown', async () => {
    const callId = parseCallId('c1')
    const call = { id: callId, providerCallId: 'call_1', name: 'write' }
    const events: readonly TurnEventBody[] = [
      { type: 'step-started', step: 0 },
      { type: 'call-announced', callId, call },
      // The limit is within an emoji, and within a number.
      ...[`{"text":"${'😀'.repeat(32_763)}`, '😀😀', '😀",', `"n":[${'12345,'.repeat(9_000)}`].map(
        (delta): TurnEventBody => ({ type: 'call-input-appended', callId, delta }),
      ),
      {
        type: 'call-settled',
        callId,
        outcome: { state: 'interrupted', cause: 'stream-failed' },
      },
    ]
    const states = events.map((_, at) => turnOf(...events.slice(0, at + 1)))
    const batches = follow(createUiChunkCursor({ sdk }), states)
    const built = await readClient(sdk, states[0]!.id, batches)
    expect(built).toEqual(states.map((turn) => expected(turn, sdk)))
    expect(JSON.stringify(batches).length).toBeLessThan(70_000)
  })

  test('[LG4 OP7] has what a reload shows of many calls that stream at once', async () => {
    const ids = Array.from({ length: 12 }, (_, nth) => parseCallId(`c${nth}`))
    const append = (delta: string) =>
      ids.map((callId): TurnEventBody => ({ type: 'call-input-appended', callId, delta }))
    const calls = ids.map((id) => ({ id, providerCallId: id, name: 'write' }))
    const events: readonly TurnEventBody[] = [
      { type: 'step-started', step: 0 },
      ...calls.map((call): TurnEventBody => ({ type: 'call-announced', callId: call.id, call })),
      ...append(`{"text":"${'x'.repeat(480)}`),
      ...append('y'.repeat(100)),
      ...append('"}'),
      ...calls.slice(0, 11).map((call): TurnEventBody => ({
        ...{ type: 'call-recorded', callId: call.id, call, approval: 'not-required' },
        input: { text: 'x'.repeat(480) + 'y'.repeat(100) },
      })),
    ]
    const states = events.map((_, at) => turnOf(...events.slice(0, at + 1)))
    const batches = follow(createUiChunkCursor({ sdk }), states)
    const built = await readClient(sdk, states[0]!.id, batches)
    expect(built).toEqual(states.map((turn) => expected(turn, sdk)))
    const inputs = built.at(-1)?.parts.flatMap((part) => ('input' in part ? [part.input] : []))
    expect(inputs?.map((input) => JSON.stringify(input).length)).toEqual([
      ...Array.from({ length: 11 }, () => 591),
      // The last of so many is shown up to 512 characters until it is complete.
      514,
    ])
  })

  test('[ST6] gets a start and a finish of a run without parts that ended between two reads', () => {
    const sent = turnOf(
      { type: 'step-started', step: 0 },
      { type: 'step-ended', finishReason: 'stop' },
      { type: 'turn-ended', ending: { kind: 'no-answer' } },
    )
    const cursor = createUiChunkCursor({ sdk, sent })
    expect(nextChunks(cursor, { ...sent }).chunks).toEqual([])
    const { chunks } = nextChunks(cursor, { ...sent, lastSeq: sent.lastSeq + 4 })
    expect(chunks.map(({ type }) => type)).toEqual(['start', 'finish'])
  })

  test('[FD1 ST5] keeps one note where a turn ended that was then continued, as the page does', async () => {
    let continued = 0
    for (const states of seedsFrom(4000, 30).flatMap(turnStates)) {
      if (!wasReopened(states)) continue
      continued += 1
      const built = await readClient(
        sdk,
        states[0]!.id,
        follow(createUiChunkCursor({ sdk }), states),
      )
      expect(built).toEqual(states.map((turn) => expected(turn, sdk)))
    }
    expect(continued).toBeGreaterThan(3)
  })
})

describe('without a version', { timeout: 30_000 }, () => {
  test.each([6, 7] as const)(
    '[FD1] a client of AI SDK %i lacks past approvals only',
    async (sdk) => {
      for (const states of seedsFrom(5000, 15).flatMap(turnStates)) {
        const built = await readClient(sdk, states[0]!.id, follow(createUiChunkCursor(), states))
        expect(built.map(withoutPastApprovals)).toEqual(
          states.map((turn) => withoutPastApprovals(pageOf(turn))),
        )
      }
    },
  )

  test('[FD1] a client of AI SDK 5 has what a reload shows, if nothing needs approval', async () => {
    let read = 0
    for (const states of seedsFrom(6000, 40).flatMap(turnStates)) {
      const calls = [...callsOf(states.at(-1)!)]
      if (calls.some((call) => call.approval === 'required')) continue
      read += 1
      const built = await readClient(5, states[0]!.id, follow(createUiChunkCursor(), states))
      expect(built).toEqual(states.map((turn) => pageOf(turn)))
    }
    expect(read).toBeGreaterThan(10)
  })

  /** AI SDK 5.0.92 refuses a chunk with an unknown field. */
  const oldFields: Readonly<Record<string, string>> = {
    start: 'messageId messageMetadata',
    'start-step': '',
    'finish-step': '',
    finish: 'finishReason',
    error: 'errorText',
    'text-start': 'id providerMetadata',
    'text-delta': 'id delta providerMetadata',
    'text-end': 'id providerMetadata',
    'reasoning-start': 'id providerMetadata',
    'reasoning-delta': 'id delta providerMetadata',
    'reasoning-end': 'id providerMetadata',
    file: 'url mediaType providerMetadata',
    'source-url': 'sourceId url title providerMetadata',
    'source-document': 'sourceId mediaType title filename providerMetadata',
    'tool-input-start': 'toolCallId toolName providerExecuted dynamic',
    'tool-input-delta': 'toolCallId inputTextDelta',
    'tool-input-available': 'toolCallId toolName input providerExecuted dynamic providerMetadata',
    'tool-output-available': 'toolCallId output dynamic preliminary',
    'tool-output-error': 'toolCallId errorText dynamic',
    // Unknown to that version; sent only where approval is required.
    'tool-approval-request': 'toolCallId approvalId',
    'tool-output-denied': 'toolCallId',
  }

  test.each([undefined, 5] as const)('[RS3] sends old fields only (sdk %s)', (sdk) => {
    const options = sdk === undefined ? {} : { sdk }
    const unknown = new Set<string>()
    for (const states of seedsFrom(7000, 30).flatMap(turnStates)) {
      for (const chunk of follow(createUiChunkCursor(options), states).flat()) {
        const { type, ...fields } = chunk
        const known = type.startsWith('data-') ? 'id data' : oldFields[type]
        if (known === undefined) unknown.add(type)
        for (const field of Object.keys(fields)) {
          if (!known?.split(' ').includes(field)) unknown.add(`${type}.${field}`)
        }
        if (sdk === 5 && /approval|denied/.test(type)) unknown.add(type)
      }
    }
    expect([...unknown]).toEqual([])
  })
})
