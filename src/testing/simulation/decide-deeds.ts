import { isDeepStrictEqual } from 'node:util'
import { type Call, needsPerson } from '../../core/call.ts'
import type { ThreadId } from '../../core/ids.ts'
import { callsOf, isTurn } from '../../core/message.ts'
import type { DecisionRequest, DecisionResult } from '../../engine/decide.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import type { World } from './world.ts'

/** Calls that wait for somebody, as the ledger has them or as some viewer still sees them. */
export function findWaiting(world: World, threadId: ThreadId): readonly Call[] {
  const { random, viewers } = world
  const seen = viewers.filter((viewer) => viewer.threadId === threadId)
  const isStale = seen.length > 0 && random.chance(0.4)
  const { messages } = isStale ? random.pick(seen).view : world.witnessOf(threadId).view
  return messages.filter(isTurn).flatMap((turn) => [...callsOf(turn)].filter(isWaiting))
}

/** For a decision, for a word on what became of it, or for the client that runs it. */
export const isWaiting = (call: Call): boolean =>
  needsPerson(call) || (call.state === 'ready' && call.name === 'ask')

/** A client gives the result of a tool that it runs itself. */
export function provide(
  world: World,
  threadId: ThreadId,
  process: SimulatedProcess,
  { id: callId }: Call,
): void {
  const outcome = { state: 'succeeded', output: { kind: 'inline', value: 'yes' } } as const
  world.requests.ask({
    process: process.name,
    label: `provide ${callId} of ${threadId}`,
    send: () => process.holdfast.addToolOutputs(threadId, [{ callId, outcome }]),
    answered([answer]) {
      const { events } = world.witnessOf(threadId)
      const settled = events.find(
        (event) => event.type === 'call-settled' && event.callId === callId,
      )
      if (answer?.kind === 'too-late' && settled === undefined) {
        world.report('CL2a', `the output of ${callId} was called late and the call is open`)
      }
      if (answer?.kind !== 'added') return
      world.count('client-output')
      if (settled === undefined) {
        world.report('CL3', `the output of ${callId} was taken and not stored`)
      }
    },
  })
}

/** Somebody decides on some calls at once. */
export function decide(
  world: World,
  threadId: ThreadId,
  process: SimulatedProcess,
  by: string,
  decisions: readonly DecisionRequest[],
): void {
  const witness = world.witnessOf(threadId)
  if (decisions.length > 1) world.count('decision-batch')
  world.requests.ask<readonly DecisionResult[]>({
    process: process.name,
    label: `${by} decides ${JSON.stringify(decisions)} in ${threadId}`,
    send: () => process.holdfast.decide({ threadId, by, decisions }),
    answered(answers) {
      for (const [index, answer] of answers.entries()) {
        const { callId, args } = decisions[index] as DecisionRequest
        const stored = witness.decisions.get(callId)
        switch (answer.kind) {
          case 'accepted':
          case 'rejected':
            if (stored?.kind !== answer.kind || stored.by !== by) {
              world.report('AP2', `${by} was told ${answer.kind} of ${callId} and was not heard`)
            }
            break
          case 'already-decided':
            world.count('decision-lost')
            if (!isDeepStrictEqual(JSON.parse(JSON.stringify(answer.decision)), stored)) {
              world.report('AP2', `${by} was told of a decision on ${callId} that nobody made`)
            }
            break
          case 'invalid-args':
            world.count('decision-invalid')
            if (isValid(args)) world.report('AP3', `good arguments of ${callId} were refused`)
            break
          case 'not-waiting':
            if (stored !== undefined)
              world.report('AP2', `${by} was not told who decided ${callId}`)
            break
          case 'not-found':
            world.report('AP9', `${callId} was not found`)
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

export function randomDecision(world: World, call: Call): DecisionRequest {
  const { random } = world
  const { id: callId } = call
  if (random.chance(0.3)) return { callId, decision: 'reject', feedback: 'Not that one.' }
  const args = random.pick([undefined, undefined, { n: 8 }, { n: 11 }, { n: 'eight' }])
  return args === undefined ? { callId, decision: 'accept' } : { callId, decision: 'accept', args }
}

/** Somebody says what became of a call whose end nobody saw. */
export function resolve(
  world: World,
  threadId: ThreadId,
  process: SimulatedProcess,
  by: string,
  call: Call,
): void {
  const { random } = world
  const { id: callId } = call
  const resolution = random.pick(['retry', 'done', 'skip'] as const)
  world.requests.ask({
    process: process.name,
    label: `${by} resolves ${callId} of ${threadId} as ${resolution}`,
    send: () => process.holdfast.resolve({ threadId, callId, resolution, by, result: 'seen' }),
    answered(answer) {
      if (answer.kind === 'not-found') world.report('CR3', `${callId} was not found`)
      if (answer.kind !== 'resolved') return
      const isStored = world
        .witnessOf(threadId)
        .events.some(
          (event) =>
            event.type === 'call-resolved' &&
            event.callId === callId &&
            event.resolution.by === by &&
            event.resolution.kind === resolution,
        )
      if (!isStored) world.report('CR3', `${by} was told that ${callId} is resolved and it is not`)
    },
  })
}
