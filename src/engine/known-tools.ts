import type { Call } from '../core/call.ts'
import { HoldfastError } from '../core/holdfast-error.ts'
import type { Turn } from '../core/message.ts'
import type { TurnPlace } from './call-scope.ts'
import { storedChoices } from './choices.ts'
import type { Engine } from './engine.ts'
import { createFailureWords } from './failure-words.ts'
import { type NextOptions, nextOptions } from './plan-next.ts'
import { noToolbox, type Toolbox } from './tool-policy.ts'
import { AgentFault } from './turn-agent.ts'

/**
 * The tools of a turn, for somebody outside of its run: to check what a person sent with a schema that only the agent has.
 * Rejects as `agent-failed` if it cannot be had; nothing has been stored then.
 */
export async function toolboxOf(engine: Engine, place: TurnPlace, turn: Turn): Promise<Toolbox> {
  const { agents, options, emit, runs } = engine
  if (agents.fixed !== undefined) return agents.fixed.toolbox
  const live = runs.get(place.threadId)
  const running = live?.turnId === turn.id ? live.run.agent?.() : undefined
  if (running !== undefined) return running.toolbox
  try {
    const choices = await storedChoices(options.choices, turn)
    return (await agents.resolve({ ...place, choices, reason: 'resume' })).toolbox
  } catch (error) {
    if (!(error instanceof AgentFault)) throw error
    const words = createFailureWords(place, options.errorText, (where, why) =>
      emit({ type: 'failed', ...where, error: why }),
    )
    const { message } = words.ofAgent(error.cause)
    throw new HoldfastError('agent-failed', message, { cause: error.cause, isTemporary: true })
  }
}

/**
 * How to plan outside of a run. Where the agent has to be asked for it is not: what a person said must be stored whatever becomes of
 * the agent. Then a call of a turn that waits is taken for the server's if somebody decided on it, and for the client's
 * otherwise, since the run that paused had run all of its own. At worst a run begins that finds nothing to do and pauses again.
 */
export const nextOptionsOutside = ({ options, agents }: Engine): NextOptions =>
  agents.fixed === undefined
    ? {
        ...nextOptions(options, noToolbox),
        isKnown: () => true,
        isExecutable: (call) => call.decision !== undefined || call.resolution !== undefined,
      }
    : nextOptions(options, agents.fixed.toolbox)

/** Says of each call of a turn whether the server runs it, or the client. */
export async function ranBy(
  engine: Engine,
  place: TurnPlace,
  turn: Turn,
): Promise<(call: Call) => boolean> {
  // In a recorded turn the host's loop runs the tools: one that was accepted is its to run.
  if (turn.recorded === true) return (call) => call.decision !== undefined
  const { fixed } = engine.agents
  if (fixed !== undefined) return (call) => fixed.toolbox.isExecutable(call.name)
  // What a turn that waits has left open is the client's; while one runs, a call may be about to be started.
  const toolbox =
    turn.progress.status === 'running' ? await toolboxOf(engine, place, turn) : noToolbox
  return (call) => call.startedAt !== undefined || toolbox.isExecutable(call.name)
}
