import { type CallEvent, type CallLife, callTransition } from '../core/life.ts'

/** Of each state that something may be found in, the state that an append brings it to. */
export type Paths<State extends string> = ReadonlyMap<State | 'absent', State>

export const noPaths: Paths<CallLife> = new Map()

export function extendPaths<State extends string>(
  paths: Paths<State> | undefined,
  starts: readonly (State | 'absent')[],
  move: (state: State | 'absent') => State | undefined,
): Paths<State> {
  const extended = new Map<State | 'absent', State>()
  for (const start of paths === undefined ? starts : paths.keys()) {
    const to = move(paths?.get(start) ?? start)
    if (to !== undefined) extended.set(start, to)
  }
  return extended
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

type CallPaths = Paths<CallLife>

// Calls live alike, so where their facts lead is worked out once. Equal paths are one object, of
// which there are a few dozen, and so are the steps between them.
const known = new Map<string, CallPaths>()
const steps = new Map<CallPaths | undefined, Map<string, CallPaths>>()

export function extendCallPaths(paths: CallPaths | undefined, event: CallEvent): CallPaths {
  const next = steps.get(paths) ?? new Map<string, CallPaths>()
  steps.set(paths, next)
  const kind = kindOf(event)
  const found = next.get(kind)
  if (found !== undefined) return found
  const extended = extendPaths(paths, callLives, (life) => {
    const { from, to } = callTransition(event, life as CallLife)
    return from.includes(life) ? to : undefined
  })
  const content = [...extended].join()
  const one = known.get(content) ?? extended
  known.set(content, one)
  next.set(kind, one)
  return one
}

/** All of an event that `callTransition` looks at. */
function kindOf(event: CallEvent): string {
  switch (event.type) {
    case 'call-recorded':
      return `${event.type} ${event.approval}`
    case 'call-revised':
      return `${event.type} ${event.isPartial}`
    case 'call-decided':
      return `${event.type} ${event.decision.kind}`
    case 'call-settled':
      return `${event.type} ${event.outcome.state}`
    case 'call-resolved':
      return `${event.type} ${event.resolution.kind}`
    default:
      return event.type
  }
}
