import { withDefined } from '../core/with-defined.ts'
import { type ToolAnswer, unnamed } from './old-call.ts'
import { hasEnded, type OldCall, type OldPart, type OldStep, type OldTurn } from './old-message.ts'

type OpenStep = Omit<OldStep, 'parts'> & { readonly parts: OldPart[] }

interface CallPosition {
  readonly step: OpenStep
  readonly part: number
}

/**
 * A turn to which the messages after it still add: results, and further messages of the model. Its lists are its own and
 * grow in place, and its open calls are found by their ids: with a copy and a search for each of 20,000 results, reading
 * them took minutes (OP7).
 */
export interface OpenTurn {
  /** The turn so far. Its lists grow with what is added later. */
  turn(): OldTurn
  /** Adds a result to the last open call of its id; false if there is none. */
  addAnswer(answer: ToolAnswer): boolean
  /** Adds a result whose call is not in the data, as that of an unknown tool. */
  addUnknownCall(answer: ToolAnswer & { readonly callId: string }): void
  /** Adds a message of the model that goes on after results. As with rows, the turn gets the id of its final message. */
  continueWith(next: OldTurn): void
}

export function openTurn(first: OldTurn): OpenTurn {
  let head: Omit<OldTurn, 'steps'> = first
  const steps: OpenStep[] = []
  const otherIds: string[] = [...(first.otherIds ?? [])]
  /** Positions of calls that have not ended, the last one last. */
  const open = new Map<string | undefined, CallPosition[]>()
  const addStep = (added: OldStep): void => {
    const step = { ...added, parts: [...added.parts] }
    steps.push(step)
    for (const [part, call] of step.parts.entries()) {
      if (call.type !== 'call' || hasEnded(call)) continue
      const position = { step, part }
      const known = open.get(call.id)
      if (known === undefined) open.set(call.id, [position])
      else known.push(position)
    }
  }
  for (const step of first.steps) addStep(step)
  return {
    turn: () => ({ ...head, steps }),
    addAnswer({ callId, end }) {
      const positions = open.get(callId)
      const position = positions?.at(-1)
      if (positions === undefined || position === undefined) return false
      const { step, part } = position
      const call: OldCall = { ...(step.parts[part] as OldCall), ...end }
      step.parts[part] = call
      if (hasEnded(call)) positions.pop()
      return true
    },
    addUnknownCall({ callId, end }) {
      const input = { kind: 'complete', value: {} } as const
      addStep({ parts: [{ type: 'call', id: callId, name: unnamed, input, ...end }] })
      head = { kind: 'turn' }
    },
    continueWith({ steps: added, ...next }) {
      for (const step of added) addStep(withDefined({ ...step }, { at: step.at ?? next.at }))
      if (head.id !== undefined) otherIds.push(head.id)
      const id = next.id ?? head.id
      head = withDefined({ ...head, ...next, otherIds }, { id, at: head.at ?? next.at })
    },
  }
}
