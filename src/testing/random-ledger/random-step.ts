import { type Call, isOpenCall, needsPerson, type OpenCall } from '../../core/call.ts'
import type { CallId } from '../../core/ids.ts'
import type { Json } from '../../core/json.ts'
import { callsOf, type Part } from '../../core/message.ts'
import type { LedgerWriter } from './ledger-writer.ts'
import {
  breakJson,
  randomItem,
  randomMetadata,
  randomText,
  splitText,
  writeJson,
} from './random-content.ts'
import {
  randomDecision,
  randomInput,
  randomOrigin,
  randomOutcome,
  randomResolution,
} from './random-call.ts'
import { withDefined } from '../../core/with-defined.ts'

/** The rest of a block or a call that streams. */
type Streaming =
  | { readonly kind: 'block'; readonly block: string; readonly pieces: string[] }
  /** `revised`: written by a loop that repeats its arguments each time (CL11). */
  | {
      readonly kind: 'call' | 'revised'
      readonly id: CallId
      readonly input: Json
      readonly pieces: string[]
      readonly isBroken: boolean
    }

/**
 * The model's part of a step: blocks, items and calls, interleaved as providers interleave them. False if it
 * broke off, with unfinished blocks and calls.
 */
export function playModel(writer: LedgerWriter, maxCalls: number): boolean {
  const { random } = writer
  const streaming: Streaming[] = []
  let calls = random.int(maxCalls + 1)
  let others = random.int(5)
  while (calls + others > 0 || streaming.length > 0) {
    if (streaming.length > 0 && (calls + others === 0 || random.chance(0.7))) {
      const track = random.pick(streaming)
      if (!playStreaming(writer, track)) streaming.splice(streaming.indexOf(track), 1)
    } else if (calls > 0 && (others === 0 || random.chance(0.5))) {
      calls -= 1
      streaming.push(...beginCall(writer))
    } else {
      others -= 1
      if (random.chance(0.35)) writer.add({ type: 'item-added', item: randomItem(random) })
      else streaming.push(beginBlock(writer))
    }
    // Tools need not wait for the model to finish.
    if (random.chance(0.1)) playTool(writer)
    if (random.chance(0.006)) return false
  }
  return true
}

function beginBlock({ random, add, turn }: LedgerWriter): Streaming {
  // Providers use the same few ids in every step; only those of open blocks differ.
  const open = new Set(turn().steps.at(-1)?.parts.map(openBlockOf))
  let number = 0
  while (open.has(String(number))) number += 1
  const block = String(number)
  const kind = random.chance(0.35) ? 'reasoning' : 'text'
  const providerMetadata = randomMetadata(random)
  add(withDefined({ type: 'text-started', block, kind } as const, { providerMetadata }))
  return { kind: 'block', block, pieces: [...splitText(random, randomText(random))] }
}

const openBlockOf = (part: Part): string | undefined =>
  (part.type === 'text' || part.type === 'reasoning') && part.state === 'streaming'
    ? part.block
    : undefined

function beginCall(writer: LedgerWriter): readonly Streaming[] {
  const { random, add } = writer
  const id = writer.newCallId()
  const call = randomOrigin(random, id)
  const input = randomInput(random)
  if (random.chance(0.3)) {
    const approval = approvalFor(writer, call.providerExecuted === true)
    add({ type: 'call-recorded', callId: id, call, input, approval })
    return []
  }
  add({ type: 'call-announced', callId: id, call })
  const isBroken = random.chance(0.06)
  const whole = random.chance(0.05) ? '' : writeJson(random, input)
  const text = isBroken ? breakJson(random, whole) : whole
  const kind = !isBroken && random.chance(0.08) ? 'revised' : 'call'
  const isEmpty = whole === '' && kind === 'call'
  const pieces = [...splitText(random, text)]
  return [{ kind, id, input: isEmpty ? {} : input, pieces, isBroken }]
}

const approvalFor = ({ random }: LedgerWriter, providerExecuted: boolean) =>
  !providerExecuted && random.chance(0.3) ? 'required' : 'not-required'

/** Writes the next piece of a block or a call; false when there is none left. */
function playStreaming(writer: LedgerWriter, track: Streaming): boolean {
  const { random, add } = writer
  const piece = track.pieces.shift()
  if (track.kind === 'block') {
    const { block } = track
    const providerMetadata = random.chance(0.2) ? randomMetadata(random) : undefined
    // A signature may arrive by itself.
    if (piece !== undefined && providerMetadata !== undefined && random.chance(0.5)) {
      add({ type: 'text-appended', block, delta: '', providerMetadata })
      add({ type: 'text-appended', block, delta: piece })
      return true
    }
    if (piece !== undefined) {
      add(
        withDefined({ type: 'text-appended', block, delta: piece } as const, { providerMetadata }),
      )
      return true
    }
    // A block without an end is closed with its step.
    if (random.chance(0.85)) {
      add(withDefined({ type: 'text-ended', block } as const, { providerMetadata }))
    }
    return false
  }
  const call = writer.findCall(track.id)
  if (call.state !== 'streaming') return false
  const callId = track.id
  if (track.kind === 'revised') {
    const isPartial = piece !== undefined
    const input = isPartial ? randomInput(random) : track.input
    add({ type: 'call-revised', callId, name: call.name, input, isPartial })
    return isPartial
  }
  if (piece !== undefined) {
    add({ type: 'call-input-appended', callId, delta: piece })
    return true
  }
  if (track.isBroken || random.chance(0.04)) {
    const error = randomText(random)
    const outcome = { state: 'failed', cause: 'invalid-input', error } as const
    add({ type: 'call-settled', callId, outcome })
    return false
  }
  const providerMetadata = randomMetadata(random) ?? call.providerMetadata
  add({
    type: 'call-recorded',
    callId,
    call: withDefined(originOf(call), { providerMetadata }),
    input: track.input,
    approval: approvalFor(writer, call.providerExecuted === true),
  })
  return false
}

function originOf({ id, providerCallId, name, dynamic, providerExecuted }: Call) {
  return withDefined({ id, providerCallId, name }, { dynamic, providerExecuted })
}

/** Advances one call that is ready or running; false if there is none. */
export function playTool(writer: LedgerWriter): boolean {
  const { random, add } = writer
  const movable = [...callsOf(writer.turn())].filter(
    (call): call is OpenCall => call.state === 'ready' || call.state === 'running',
  )
  if (movable.length === 0) return false
  const call = random.pick(movable)
  const callId = call.id
  if (random.chance(0.04)) {
    add({
      type: 'call-revised',
      callId,
      name: call.name,
      input: randomInput(random),
      isPartial: false,
    })
  } else if (call.state === 'ready' && random.chance(0.85)) {
    add({ type: 'call-started', callId })
  } else if (call.state === 'running' && random.chance(0.3)) {
    add({ type: 'call-progressed', callId, output: randomInput(random) })
  } else if (call.state === 'running' && random.chance(0.05)) {
    add({ type: 'call-settled', callId, outcome: { state: 'unknown', cause: 'crashed' } })
  } else {
    add(
      withDefined({ type: 'call-settled', callId, outcome: randomOutcome(random) } as const, {
        providerMetadata: randomMetadata(random),
      }),
    )
  }
  return true
}

/** The results of calls that the client runs. */
export function playClient(writer: LedgerWriter): void {
  for (const call of callsOf(writer.turn())) {
    if (call.state !== 'ready' && call.state !== 'running') continue
    const outcome = randomOutcome(writer.random)
    writer.add({ type: 'call-settled', callId: call.id, outcome })
  }
}

/** Decides or resolves one call that waits for a person; false if none does. */
export function playPerson(writer: LedgerWriter): boolean {
  const { random, add } = writer
  const waiting = [...callsOf(writer.turn())].filter(needsPerson)
  if (waiting.length === 0) return false
  const call = random.pick(waiting)
  const at = writer.now()
  add(isOpenCall(call) ? randomDecision(random, call, at) : randomResolution(random, call, at))
  return true
}
