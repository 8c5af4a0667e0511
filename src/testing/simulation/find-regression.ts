import type { Call, CallState } from '../../core/call.ts'
import type { CallId } from '../../core/ids.ts'
import type { Part, Turn } from '../../core/message.ts'

/** How far a call is in its life. Written down once more, apart from the table that the stores read. */
const rank: Readonly<Record<CallState, number>> = {
  streaming: 0,
  'awaiting-approval': 1,
  ready: 2,
  running: 3,
  succeeded: 4,
  failed: 4,
  denied: 4,
  stopped: 4,
  interrupted: 4,
  unknown: 4,
}

/** What a turn has lost or taken back between two commits (CL2, CR1), or undefined. */
export function findRegression(
  before: Turn,
  after: Turn,
  resolved: ReadonlySet<CallId>,
): { readonly rule: string; readonly message: string } | undefined {
  for (const [index, step] of before.steps.entries()) {
    const next = after.steps[index]
    if (next === step) continue
    if (next === undefined || next.parts.length < step.parts.length) {
      return { rule: 'CR1', message: `step ${index} of ${after.id} lost what it had` }
    }
    for (const [place, part] of step.parts.entries()) {
      const found = findPartRegression(part, next.parts[place] as Part, resolved)
      if (found !== undefined) return found
    }
  }
  return undefined
}

function findPartRegression(
  before: Part,
  after: Part,
  resolved: ReadonlySet<CallId>,
): { readonly rule: string; readonly message: string } | undefined {
  if (before === after) return undefined
  if (before.type === 'call') {
    if (after.type !== 'call' || after.id !== before.id) {
      return { rule: 'CR1', message: `the call ${before.id} is gone from its place` }
    }
    const message = findCallRegression(before, after, resolved.has(before.id))
    return message === undefined ? undefined : { rule: 'CL2', message }
  }
  if (before.type === 'text' || before.type === 'reasoning') {
    if (after.type !== before.type || !after.text.startsWith(before.text)) {
      return { rule: 'CR1', message: `"${before.text}" is gone from its place` }
    }
  }
  return undefined
}

function findCallRegression(before: Call, after: Call, isResolved: boolean): string | undefined {
  if (before.state === 'unknown' && isResolved) return undefined
  const isEnded = rank[before.state] === 4
  if (isEnded ? after.state === before.state : rank[after.state] >= rank[before.state]) {
    return undefined
  }
  return `the call ${before.id} went from ${before.state} to ${after.state}`
}
