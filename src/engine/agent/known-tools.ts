import type { Call } from '../../core/call.ts'
import { HoldfastError } from '../../core/holdfast-error.ts'
import type { Json } from '../../core/json.ts'
import type { Turn } from '../../core/message.ts'
import type { TurnPlace } from '../call-scope.ts'
import { storedChoices } from './choices.ts'
import type { Engine } from '../engine.ts'
import { createFailureTexts, type FailureTexts } from '../run/failure-texts.ts'
import { type FittedValue, fitSchema } from '../fit-schema.ts'
import { type NextOptions, nextOptions } from '../run/plan-next.ts'
import { noToolbox, type Toolbox } from './tool-policy.ts'
import { AgentFault } from './turn-agent.ts'

/**
 * The tools of a turn, for code outside of its run: to check what a person sent against a schema that only the agent
 * has. Rejects as `agent-failed` if the agent cannot be resolved; nothing has been stored then.
 */
export async function toolboxOf(engine: Engine, place: TurnPlace, turn: Turn): Promise<Toolbox> {
  const { agents, runs } = engine
  if (agents.fixed !== undefined) return agents.fixed.toolbox
  const live = runs.get(place.threadId)
  const running = live?.turnId === turn.id ? live.run.agent?.() : undefined
  if (running !== undefined) return running.toolbox
  try {
    const choices = await storedChoices(engine, turn)
    return (await agents.resolve({ ...place, choices, reason: 'resume' })).toolbox
  } catch (error) {
    if (!(error instanceof AgentFault)) throw error
    const { message } = wordsOutside(engine, place).ofAgent(error.cause)
    throw new HoldfastError('agent-failed', message, { cause: error.cause, isTemporary: true })
  }
}

export const wordsOutside = ({ options, emit }: Engine, place: TurnPlace): FailureTexts =>
  createFailureTexts(place, options.errorText, (where, error) =>
    emit({ type: 'failed', ...where, error }),
  )

/**
 * Validates a value that a person sent against a schema of the call's tool. What the schema throws goes to the log, not
 * to the client.
 */
export async function fitGiven(
  engine: Engine,
  place: TurnPlace,
  call: Pick<Call, 'id' | 'name'>,
  schema: Parameters<typeof fitSchema>[1],
  value: Json,
): Promise<FittedValue> {
  const fitted = await fitSchema(engine, schema, value)
  if (fitted.kind !== 'failed') return fitted
  return { kind: 'refused', message: wordsOutside(engine, place).ofCheck(call, fitted.error) }
}

/**
 * The options to plan with outside of a run. A function agent is not resolved here: the input of a person must be
 * stored even if the agent fails. A call of a waiting turn is then taken for the server's if it was decided on or
 * resolved, and for the client's otherwise, since the run that paused had run all of its own calls. At worst a run
 * begins that finds nothing to do and pauses again.
 */
export const nextOptionsOutside = ({ options, agents }: Engine): NextOptions =>
  agents.fixed === undefined
    ? {
        ...nextOptions(options, noToolbox),
        isKnown: () => true,
        isExecutable: (call) => call.decision !== undefined || call.resolution !== undefined,
      }
    : nextOptions(options, agents.fixed.toolbox)

/** Returns a function that tells for each call of a turn whether the server runs it (true), or the client. */
export async function ranBy(
  engine: Engine,
  place: TurnPlace,
  turn: Turn,
): Promise<(call: Call) => boolean> {
  // In a recorded turn the host application's loop runs the tools: an accepted call is run by it.
  if (turn.recorded === true) return (call) => call.decision !== undefined
  const { fixed } = engine.agents
  if (fixed !== undefined) return (call) => fixed.toolbox.isExecutable(call.name)
  // Calls that a waiting turn has left open are the client's; while a turn runs, a call may be about to be started.
  const toolbox =
    turn.progress.status === 'running' ? await toolboxOf(engine, place, turn) : noToolbox
  return (call) => call.startedAt !== undefined || toolbox.isExecutable(call.name)
}
