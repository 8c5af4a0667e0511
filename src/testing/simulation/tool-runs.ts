import { isDeepStrictEqual } from 'node:util'
import type { Call } from '../../core/call.ts'
import type { NewEvent } from '../../core/event.ts'
import type { CallId } from '../../core/ids.ts'
import { callsOf } from '../../core/message.ts'
import { simulatedTools, type ToolInput, type ToolName, type ToolWatch } from './simulated-tools.ts'
import type { Witness } from './witness.ts'
import type { Report } from './violation.ts'

/** What the tools of all processes did, held against what is stored of it. */
export interface ToolRuns extends ToolWatch {
  /** A fact was stored: a result must be one that the tool gave (LG9). */
  stored(event: NewEvent): void
}

export interface ToolRunsParts {
  readonly witnesses: () => Iterable<Witness>
  readonly report: Report
  readonly onRepeat: () => void
}

export function createToolRuns(parts: ToolRunsParts): ToolRuns {
  const runs = new Map<string, number>()
  const outputs = new Map<string, unknown[]>()
  const { report } = parts

  return {
    began(name, callId, input) {
      const times = (runs.get(callId) ?? 0) + 1
      runs.set(callId, times)
      if (times > 1) parts.onRepeat()
      const found = findCall(parts.witnesses(), callId as CallId)
      if (found === undefined) report('CL3', `${name} ran for ${callId}, which is not stored`)
      else checkRun(name, times, input, found, report)
    },
    returned(callId, output) {
      outputs.set(callId, [...(outputs.get(callId) ?? []), output])
    },
    stored(event) {
      if (event.type !== 'call-settled' || event.outcome.state !== 'succeeded') return
      const { output } = event.outcome
      const given = outputs.get(event.callId)
      if (given === undefined || output.kind !== 'inline') return
      if (!given.some((value) => isDeepStrictEqual(value, output.value))) {
        report('LG9', `${event.callId} was stored with ${JSON.stringify(output.value)}`)
      }
    },
  }
}

interface Found {
  readonly call: Call
  readonly witness: Witness
}

/** At the moment a tool begins, its call is stored as it is being run. */
function checkRun(
  name: ToolName,
  times: number,
  input: ToolInput,
  { call, witness }: Found,
  report: Report,
): void {
  const { repeatable, needsApproval } = simulatedTools[name]
  const starts = witness.countOf('call-started', call.id)
  const retries = witness.countOf('call-resolved', call.id)
  if (starts === 0) report('CL3', `${name} ran for ${call.id} before it was stored as started`)
  if (!repeatable && (times > 1 + retries || times > starts)) {
    report('CR4', `${name} ran ${times} times for ${call.id}, retried ${retries} times`)
  }
  const given = call.input.kind === 'complete' ? call.input.value : undefined
  if (!isDeepStrictEqual(given, input)) {
    report('AP3', `${name} was given ${JSON.stringify(input)}, not ${JSON.stringify(given)}`)
  }
  const proposed = (call.proposedInput ?? given) as unknown as ToolInput
  if (needsApproval(proposed) && call.decision?.kind !== 'accepted') {
    report('AP1', `${name} ran for ${call.id}, which nobody accepted`)
  }
}

function findCall(witnesses: Iterable<Witness>, callId: CallId): Found | undefined {
  for (const witness of witnesses) {
    for (const turn of witness.turns.values()) {
      for (const call of callsOf(turn)) if (call.id === callId) return { call, witness }
    }
  }
  return undefined
}
