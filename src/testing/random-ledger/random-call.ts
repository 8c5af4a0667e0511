import type { Call, CallOrigin, CallOutcome } from '../../core/call.ts'
import type { TurnEventBody } from '../../core/event.ts'
import type { CallId } from '../../core/ids.ts'
import type { Json } from '../../core/json.ts'
import { withDefined } from '../../core/with-defined.ts'
import type { Random } from '../random.ts'
import {
  randomJson,
  randomMetadata,
  randomObject,
  randomOutput,
  randomText,
} from './random-content.ts'

const toolNames = ['get_weather', 'search-notes', 'delete_note', 'web_search', 'x'] as const

export function randomOrigin(random: Random, id: CallId): CallOrigin {
  const flag = (probability: number) => (random.chance(probability) ? (true as const) : undefined)
  return withDefined(
    // Providers repeat their ids, across turns and within one step (LG10).
    { id, providerCallId: `call_${random.int(12)}`, name: random.pick(toolNames) },
    {
      dynamic: flag(0.2),
      providerExecuted: flag(0.12),
      title: random.chance(0.15) ? randomText(random, 3) : undefined,
      providerMetadata: randomMetadata(random),
      toolMetadata: random.chance(0.15) ? { icon: 'sun', order: random.int(3) } : undefined,
    },
  )
}

export const randomInput = (random: Random): Json =>
  random.chance(0.9) ? randomObject(random) : randomJson(random)

/** The outcome of a call that has its arguments. */
export function randomOutcome(random: Random): CallOutcome {
  if (random.chance(0.7)) {
    return withDefined(
      {
        state: 'succeeded',
        output: { kind: 'inline', value: randomOutput(random) },
      } as const,
      { modelOutput: random.chance(0.2) ? randomModelOutput(random) : undefined },
    )
  }
  const cause = random.pick(['tool-error', 'invalid-input', 'unknown-tool', 'timeout'] as const)
  return { state: 'failed', cause, error: randomText(random) }
}

function randomModelOutput(random: Random): Json {
  return random.pick<Json>([
    { type: 'text', value: randomText(random) },
    { type: 'json', value: randomJson(random) },
    { type: 'content', value: [{ type: 'text', text: randomText(random) }] },
  ])
}

export function randomDecision(
  random: Random,
  call: Call,
  at: number,
): Extract<TurnEventBody, { type: 'call-decided' }> {
  const kind = random.chance(0.65) ? 'accepted' : 'rejected'
  return withDefined(
    {
      type: 'call-decided',
      callId: call.id,
      decision: withDefined(
        { kind, by: random.pick(['ana', 'ben']), at, inputHash: `hash-${random.int(99)}` } as const,
        {
          feedback: random.chance(0.4) ? randomText(random) : undefined,
          automatic: random.chance(0.15) ? (true as const) : undefined,
        },
      ),
    } as const,
    {
      editedInput: kind === 'accepted' && random.chance(0.4) ? randomObject(random) : undefined,
    },
  )
}

export function randomResolution(
  random: Random,
  call: Call,
  at: number,
): Extract<TurnEventBody, { type: 'call-resolved' }> {
  const kind = random.pick(['retry', 'done', 'skip'] as const)
  return withDefined(
    { type: 'call-resolved', callId: call.id, resolution: { kind, by: 'ana', at } } as const,
    {
      output:
        kind === 'done' && random.chance(0.6)
          ? ({ kind: 'inline', value: randomOutput(random) } as const)
          : undefined,
    },
  )
}
