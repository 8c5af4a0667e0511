import { isDeepStrictEqual } from 'node:util'
import type { Call } from '../../core/call.ts'
import type { CallId } from '../../core/ids.ts'
import { callsOf } from '../../core/message.ts'
import { simulatedTools, type ToolInput, type ToolName } from './simulated-tools.ts'
import type { Witness } from './witness.ts'

export interface ToolRunChecks {
  readonly witnesses: () => Iterable<Witness>
  readonly report: (rule: string, message: string) => void
  readonly onRepeat: () => void
}

/** Looks at what is stored at the moment a tool begins. */
export function createToolRunCheck(
  checks: ToolRunChecks,
): (name: ToolName, callId: string, input: ToolInput) => void {
  const runs = new Map<string, number>()
  const { report } = checks

  return (name, callId, input) => {
    const times = (runs.get(callId) ?? 0) + 1
    runs.set(callId, times)
    const found = findCall(checks.witnesses(), callId as CallId)
    if (found === undefined) return report('CL3', `${name} ran for ${callId}, which is not stored`)
    const { call, witness } = found
    const { repeatable, needsApproval } = simulatedTools[name]
    const starts = witness.countOf('call-started', call.id)
    const retries = witness.countOf('call-resolved', call.id)
    if (starts === 0) report('CL3', `${name} ran for ${callId} before it was stored as started`)
    if (times > 1) checks.onRepeat()
    if (!repeatable && (times > 1 + retries || times > starts)) {
      report('CR4', `${name} ran ${times} times for ${callId}, retried ${retries} times`)
    }
    const given = call.input.kind === 'complete' ? call.input.value : undefined
    if (!isDeepStrictEqual(given, input)) {
      report('AP3', `${name} was given ${JSON.stringify(input)}, not ${JSON.stringify(given)}`)
    }
    const proposed = (call.proposedInput ?? given) as unknown as ToolInput
    if (needsApproval(proposed) && call.decision?.kind !== 'accepted') {
      report('AP1', `${name} ran for ${callId}, which nobody accepted`)
    }
    return undefined
  }
}

function findCall(
  witnesses: Iterable<Witness>,
  callId: CallId,
): { readonly call: Call; readonly witness: Witness } | undefined {
  for (const witness of witnesses) {
    for (const turn of witness.turns.values()) {
      for (const call of callsOf(turn)) if (call.id === callId) return { call, witness }
    }
  }
  return undefined
}
