import { type Call, isOpenCall } from '../../core/call.ts'
import type { TurnEventBody } from '../../core/event.ts'
import { badRequestFault } from '../../core/holdfast-error.ts'
import type { CallId } from '../../core/ids.ts'
import type { Json } from '../../core/json.ts'
import { callsOf, type TextPart, type Turn } from '../../core/message.ts'

/** A call of the host's own loop. */
interface OwnCall {
  readonly name: string
  /** The provider's id of it. */
  readonly callId: string
  readonly arguments: Json
  /** The arguments are still arriving. */
  readonly isPartial: boolean
}

/** The events that must precede anything that is added to the message. */
function planOpening(turn: Turn | null): readonly TurnEventBody[] {
  const opening: TurnEventBody[] = []
  if (turn === null) opening.push({ type: 'turn-started', replyTo: null, recorded: true })
  if (turn?.progress.status === 'waiting') {
    throw badRequestFault(
      'The message waits for a person or a client: nothing can be added to it before that.',
    )
  }
  if (turn?.progress.status === 'ended') opening.push({ type: 'turn-resumed' })
  if (turn?.steps.at(-1)?.status !== 'open') {
    opening.push({ type: 'step-started', step: turn?.steps.length ?? 0 })
  }
  return opening
}

/** The text block that is open, if it is the last part of the message. */
function openText(turn: Turn | null): TextPart | undefined {
  const step = turn?.steps.at(-1)
  const last = step?.status === 'open' ? step.parts.at(-1) : undefined
  const isText = last?.type === 'text' || last?.type === 'reasoning'
  return isText && last.state === 'streaming' ? last : undefined
}

const endText = (part: TextPart | undefined): readonly TurnEventBody[] =>
  part === undefined ? [] : [{ type: 'text-ended', block: part.block }]

/** The events that add a text to the end of the message. */
export function planText(
  turn: Turn | null,
  kind: 'text' | 'reasoning',
  delta: string,
): readonly TurnEventBody[] {
  const open = openText(turn)
  if (open?.type === kind) return [{ type: 'text-appended', block: open.block, delta }]
  // The next seq of the turn occurs in no earlier block id.
  const block = `own.${(turn?.lastSeq ?? 0) + 1}`
  return [
    ...planOpening(turn),
    ...endText(open),
    { type: 'text-started', block, kind },
    { type: 'text-appended', block, delta },
  ]
}

/** The call ended without having been done: writing it again is a new attempt. */
const isRetriable = (call: Call): boolean =>
  call.state === 'interrupted' || call.state === 'stopped' || call.state === 'unknown'

/** The events that record a call of the message, or change what is known of it. */
export function planUpsert(
  upserted: OwnCall,
  turn: Turn | null,
  newCallId: () => CallId,
): readonly TurnEventBody[] {
  const { name, callId: providerCallId, arguments: input, isPartial } = upserted
  const known =
    turn === null
      ? undefined
      : [...callsOf(turn)].findLast((call) => call.providerCallId === providerCallId)
  if (known !== undefined && !isRetriable(known)) {
    const isSettled = !isOpenCall(known) || known.state === 'awaiting-approval'
    return isSettled ? [] : [{ type: 'call-revised', callId: known.id, name, input, isPartial }]
  }
  const opening = [...planOpening(turn), ...endText(openText(turn))]
  const callId = newCallId()
  const call = { id: callId, providerCallId, name }
  if (!isPartial) {
    return [...opening, { type: 'call-recorded', callId, call, input, approval: 'not-required' }]
  }
  return [
    ...opening,
    { type: 'call-announced', callId, call },
    { type: 'call-input-appended', callId, delta: JSON.stringify(input) },
  ]
}
