import type { Clock } from '../../engine/clock.ts'
import type { createHoldfast, Holdfast } from '../../engine/create-holdfast.ts'
import type { LifecycleEvent } from '../../engine/hooks.ts'
import type { Store } from '../../store/store.ts'
import type { Random } from '../random.ts'
import {
  type PromptMessage,
  type ScriptedCall,
  scriptedModel,
  type ScriptPart,
} from '../scripted-model.ts'
import { randomScript } from './random-script.ts'
import type { Scheduler } from './scheduler.ts'
import { createTools, toolPolicies, type ToolWatch } from './simulated-tools.ts'
import type { Kind } from './tally.ts'
import type { Weather } from './weather.ts'
import { withPauses } from './with-pauses.ts'

export interface SimulatedProcess {
  readonly name: string
  readonly holdfast: Holdfast
  /** The process's own line to the database. */
  readonly store: Store
}

export interface ProcessParts {
  readonly name: string
  readonly store: Store
  readonly random: Random
  readonly scheduler: Scheduler
  readonly weather: Weather
  readonly isOver: () => boolean
  readonly count: (kind: Kind) => void
  readonly create: typeof createHoldfast
  readonly newId: (kind: string) => string
  readonly onPrompt: (prompt: readonly PromptMessage[]) => void
  /** What the model is about to say. */
  readonly onScript: (script: readonly ScriptPart[]) => void
  readonly tools: ToolWatch
}

/** One engine, as one server would have it, in virtual time. */
export function createProcess(parts: ProcessParts): SimulatedProcess {
  const { name, store, random, scheduler, count } = parts
  const clock: Clock = {
    now: scheduler.now,
    after: (ms, call) => scheduler.schedule(name, 'timer', ms, call),
    soon: (call) => void scheduler.schedule(name, 'soon', 0, call),
  }
  const script = () => {
    const said = parts.isOver() ? [{ text: 'That is all.' }] : randomScript(random)
    parts.onScript(said)
    return said
  }
  const onCall = ({ prompt }: ScriptedCall) => parts.onPrompt(prompt)
  const hooks = (event: LifecycleEvent) => {
    const kind = kindOf(event)
    if (kind !== undefined) count(kind)
  }
  const holdfast = parts.create({
    ...parts.weather.options,
    store,
    clock,
    hooks,
    holder: name,
    newId: parts.newId,
    model: withPauses(scriptedModel(script, { clock, onCall }), clock, random),
    tools: createTools(clock, random, parts.tools),
    policies: toolPolicies,
  })
  return { name, holdfast, store }
}

function kindOf(event: LifecycleEvent): Kind | undefined {
  if (event.type === 'turn-started') return event.how === 'taken-over' ? 'takeover' : undefined
  return event.type === 'model-retried' ? 'model-retried' : undefined
}
