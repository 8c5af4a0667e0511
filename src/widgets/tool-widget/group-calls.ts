import { type Call, type CallState, isOpenCall } from '../../core/call.ts'
import type { Turn } from '../../core/message.ts'
import { commentaryOf } from '../../views/commentary.ts'

/** A call as a row of the expanded widget. */
export interface CallLine {
  readonly call: Call
  readonly commentary: string | undefined
}

/** A single row, or many ended calls that are one line until it is opened. */
export type CallEntry =
  | ({ readonly kind: 'call' } & CallLine)
  | { readonly kind: 'group'; readonly lines: readonly CallLine[] }

/** More consecutive ended calls than this form a group. */
const mostApart = 5

export const linesOf = (turn: Turn): readonly CallLine[] =>
  turn.steps.flatMap((step) => {
    const commentary = commentaryOf(step)
    return step.parts.flatMap((part): readonly CallLine[] =>
      part.type === 'call' ? [{ call: part, commentary: commentary.get(part.id) }] : [],
    )
  })

/** Calls that a group never hides: those that did not succeed, or wait for a person (CO7). */
export const alwaysShows = ({ call }: CallLine): boolean => call.state !== 'succeeded'

/** The rows of a turn, in order, with long runs of ended calls as groups. An open call ends a run. */
export function groupCalls(lines: readonly CallLine[]): readonly CallEntry[] {
  const entries: CallEntry[] = []
  let run: CallLine[] = []
  const endRun = () => {
    // A group that hides only one row saves nothing.
    const isGroup = run.length > mostApart && run.filter((line) => !alwaysShows(line)).length > 1
    if (isGroup) entries.push({ kind: 'group', lines: run })
    else entries.push(...run.map((line) => ({ kind: 'call', ...line }) as const))
    run = []
  }
  for (const line of lines) {
    if (!isOpenCall(line.call)) {
      run.push(line)
      continue
    }
    endRun()
    entries.push({ kind: 'call', ...line })
  }
  endRun()
  return entries
}

/** The number of calls per end state, in the order of their first occurrence; succeeded ones first. */
export function countStates(
  lines: readonly CallLine[],
): readonly (readonly [state: CallState, count: number])[] {
  const counts = new Map<CallState, number>([['succeeded', 0]])
  for (const { call } of lines) counts.set(call.state, (counts.get(call.state) ?? 0) + 1)
  return [...counts].filter(([, count]) => count > 0)
}
