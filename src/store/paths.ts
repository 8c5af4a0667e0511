import type { NewTurnEvent } from '../core/event.ts'
import { type CallEvent, type CallLife, callTransition, turnTransition } from '../core/life.ts'
import type { TurnStatus } from '../core/message.ts'

/** Of each state that something may be found in, the state that an append brings it to. */
export type Paths<State extends string> = ReadonlyMap<State | 'absent', State>

export const noPaths: Paths<CallLife> = new Map()

/** Where all paths lead; undefined if that depends on where one starts. */
export function findOneEnd<State extends string>(paths: Paths<State>): State | undefined {
  const [end, ...others] = new Set(paths.values())
  return others.length > 0 ? undefined : end
}

const callLives = [
  'absent',
  'streaming',
  'awaiting-approval',
  'ready',
  'running',
  'succeeded',
  'failed',
  'denied',
  'stopped',
  'interrupted',
  'unknown',
  'skipped',
] as const satisfies readonly (CallLife | 'absent')[]

const turnStatuses = ['absent', 'running', 'waiting', 'ended'] as const satisfies readonly (
  | TurnStatus
  | 'absent'
)[]

/** Where one more fact about a call leads, from wherever it may stand. */
export const extendCallPaths = createExtension<CallLife, CallEvent>(
  callLives,
  detailOf,
  (event, life) => {
    const { from, to } = callTransition(event, life as CallLife)
    return from.includes(life) ? to : undefined
  },
)

export const extendTurnPaths = createExtension<TurnStatus, NewTurnEvent>(
  turnStatuses,
  () => '',
  (event, status) => {
    const { from, to } = turnTransition(event)
    return from.includes(status) ? (to ?? (status as TurnStatus)) : undefined
  },
)

/** All of an event, besides its type, that `callTransition` looks at. */
function detailOf(event: CallEvent): string {
  switch (event.type) {
    case 'call-recorded':
      return event.approval
    case 'call-revised':
      return event.isPartial ? 'partial' : 'whole'
    case 'call-decided':
      return event.decision.kind
    case 'call-settled':
      return event.outcome.state
    case 'call-resolved':
      return event.resolution.kind
    default:
      return ''
  }
}

/**
 * Calls live alike, and turns do, so where their facts lead is worked out once. Equal paths are one
 * object, of which there are a few dozen, and so are the steps between them.
 */
function createExtension<State extends string, Event extends { readonly type: string }>(
  starts: readonly (State | 'absent')[],
  detail: (event: Event) => string,
  move: (event: Event, state: State | 'absent') => State | undefined,
): (paths: Paths<State> | undefined, event: Event) => Paths<State> {
  const known = new Map<string, Paths<State>>()
  const steps = new Map<Paths<State> | undefined, Map<string, Map<string, Paths<State>>>>()

  const extend = (paths: Paths<State> | undefined, event: Event): Paths<State> => {
    const extended = new Map<State | 'absent', State>()
    for (const start of paths === undefined ? starts : paths.keys()) {
      const to = move(event, paths?.get(start) ?? start)
      if (to !== undefined) extended.set(start, to)
    }
    const content = [...extended].join()
    const one = known.get(content) ?? extended
    known.set(content, one)
    return one
  }

  return (paths, event) => {
    const ofType = steps.get(paths)?.get(event.type)
    const found = ofType?.get(detail(event))
    if (found !== undefined) return found
    const extended = extend(paths, event)
    const types = steps.get(paths) ?? new Map<string, Map<string, Paths<State>>>()
    const details = ofType ?? new Map<string, Paths<State>>()
    steps.set(paths, types.set(event.type, details.set(detail(event), extended)))
    return extended
  }
}
