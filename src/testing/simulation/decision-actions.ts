import { isDeepStrictEqual } from 'node:util'
import { type Call, needsPerson } from '../../core/call.ts'
import type { ThreadId } from '../../core/ids.ts'
import { callsOf, isTurn } from '../../core/message.ts'
import type { DecisionRequest, DecisionResult } from '../../engine/calls/decide.ts'
import type { Cluster } from './cluster.ts'
import type { SimulatedProcess } from './simulated-process.ts'

/** Calls that wait for a user: as the oracle has them or, stale, as some viewer still shows them. */
export function findWaiting(cluster: Cluster, threadId: ThreadId): readonly Call[] {
  const { random, viewers } = cluster
  const seen = viewers.filter((viewer) => viewer.threadId === threadId)
  const isStale = seen.length > 0 && random.chance(0.4)
  const { messages } = isStale ? random.pick(seen).view : cluster.oracleOf(threadId).view
  return messages.filter(isTurn).flatMap((turn) => [...callsOf(turn)].filter(isWaiting))
}

/** Waits for a decision, for a resolution, or for the output of a tool that the client runs. */
export const isWaiting = (call: Call): boolean =>
  needsPerson(call) || (call.state === 'ready' && call.name === 'ask')

/** A client adds the output of a tool that it runs itself. */
export function addToolOutput(
  cluster: Cluster,
  threadId: ThreadId,
  process: SimulatedProcess,
  { id: callId }: Call,
): void {
  cluster.requests.submit({
    process: process.name,
    label: `add tool output of ${callId} in ${threadId}`,
    send: () => process.holdfast.addToolOutputs(threadId, [{ toolCallId: callId, output: 'yes' }]),
    onAnswer([answer]) {
      const { events } = cluster.oracleOf(threadId)
      const settled = events.find(
        (event) => event.type === 'call-settled' && event.callId === callId,
      )
      if (answer?.kind === 'too-late' && settled === undefined) {
        cluster.report('CL2a', `the output of ${callId} was called late and the call is open`)
      }
      if (answer?.kind !== 'added') return
      cluster.count('client-output')
      if (settled === undefined) {
        cluster.report('CL3', `the output of ${callId} was taken and not stored`)
      }
    },
  })
}

/** A user decides on one or more calls in one request (AP2, AP3, AP9). */
export function decide(
  cluster: Cluster,
  threadId: ThreadId,
  process: SimulatedProcess,
  by: string,
  decisions: readonly DecisionRequest[],
): void {
  const oracle = cluster.oracleOf(threadId)
  if (decisions.length > 1) cluster.count('decision-batch')
  cluster.requests.submit<readonly DecisionResult[]>({
    process: process.name,
    label: `${by} decides ${JSON.stringify(decisions)} in ${threadId}`,
    send: () =>
      process.holdfast.decide({
        threadId,
        by,
        decisions: decisions.map(({ callId: toolCallId, ...decision }) => ({
          ...decision,
          toolCallId,
        })),
      }),
    onAnswer(answers) {
      for (const [index, answer] of answers.entries()) {
        const { callId, args } = decisions[index] as DecisionRequest
        const stored = oracle.decisions.get(callId)
        switch (answer.kind) {
          case 'accepted':
          case 'rejected':
            if (stored?.kind !== answer.kind || stored.by !== by) {
              cluster.report('AP2', `${by} was told ${answer.kind} of ${callId} and was not heard`)
            }
            break
          case 'already-decided':
            cluster.count('decision-lost')
            if (!isDeepStrictEqual(JSON.parse(JSON.stringify(answer.decision)), stored)) {
              cluster.report('AP2', `${by} was told of a decision on ${callId} that nobody made`)
            }
            break
          case 'invalid-args':
            cluster.count('decision-invalid')
            if (isValid(args)) cluster.report('AP3', `good arguments of ${callId} were refused`)
            break
          case 'not-waiting':
            if (stored !== undefined)
              cluster.report('AP2', `${by} was not told who decided ${callId}`)
            break
          case 'not-found':
            cluster.report('AP9', `${callId} was not found`)
            break
          default:
            answer satisfies never
        }
      }
    },
  })
}

const isValid = (args: DecisionRequest['args']): boolean =>
  args === undefined || typeof (args as { n?: unknown } | null)?.n === 'number'

/** Accepts, rejects, or accepts with edited arguments, some of which are invalid. */
export function randomDecision(cluster: Cluster, call: Call): DecisionRequest {
  const { random } = cluster
  const { id: callId } = call
  if (random.chance(0.3)) return { callId, decision: 'reject', feedback: 'Not that one.' }
  const args = random.pick([undefined, undefined, { n: 8 }, { n: 11 }, { n: 'eight' }])
  return args === undefined ? { callId, decision: 'accept' } : { callId, decision: 'accept', args }
}

/** A user resolves a call whose outcome is unknown (CR3). */
export function resolve(
  cluster: Cluster,
  threadId: ThreadId,
  process: SimulatedProcess,
  by: string,
  call: Call,
): void {
  const { random } = cluster
  const { id: callId } = call
  const resolution = random.pick(['retry', 'done', 'skip'] as const)
  cluster.requests.submit({
    process: process.name,
    label: `${by} resolves ${callId} of ${threadId} as ${resolution}`,
    send: () =>
      process.holdfast.resolve({
        threadId,
        toolCallId: callId,
        resolution,
        by,
        result: 'seen',
      }),
    onAnswer(answer) {
      if (answer.kind === 'not-found') cluster.report('CR3', `${callId} was not found`)
      if (answer.kind !== 'resolved') return
      const isStored = cluster
        .oracleOf(threadId)
        .events.some(
          (event) =>
            event.type === 'call-resolved' &&
            event.callId === callId &&
            event.resolution.by === by &&
            event.resolution.kind === resolution,
        )
      if (!isStored)
        cluster.report('CR3', `${by} was told that ${callId} is resolved and it is not`)
    },
  })
}
