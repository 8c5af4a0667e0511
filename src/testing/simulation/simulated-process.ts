import type { LanguageModel } from 'ai'
import { type Clock, wait } from '../../engine/clock.ts'
import type { Holdfast } from '../../engine/create-holdfast.ts'
import type { HoldfastOptions } from '../../engine/options/options.ts'
import type { LifecycleEvent } from '../../engine/telemetry/hooks.ts'
import type { FileStore } from '../../files/file-store.ts'
import type { Store } from '../../store/store.ts'
import { carryOnBeginning } from '../../views/carry-on-words.ts'
import type { Random } from '../random.ts'
import {
  type PromptMessage,
  type ScriptedCall,
  scriptedModel,
  type ScriptPart,
} from '../scripted-model.ts'
import type { CoverageKind } from './coverage.ts'
import type { FaultProfile } from './fault-injecting-store.ts'
import type { Scheduler } from './scheduler.ts'
import { createTools, toolNames, toolPolicies, type ToolWatch } from './simulated-tools.ts'
import type { FileId } from '../../core/file.ts'
import { memoryFiles } from '../../files/memory-files.ts'

export interface SimulatedProcess {
  readonly name: string
  readonly holdfast: Holdfast
  /** The process's own, fault-injecting connection to the database. */
  readonly store: Store
}

export interface ProcessParts {
  readonly name: string
  readonly store: Store
  readonly fileStore: FileStore
  readonly random: Random
  readonly scheduler: Scheduler
  readonly profile: FaultProfile
  readonly isQuiescing: () => boolean
  readonly count: (kind: CoverageKind) => void
  readonly create: (options: HoldfastOptions) => Holdfast
  readonly newId: (kind: string) => string
  readonly onPrompt: (prompt: readonly PromptMessage[]) => void
  /** Called with what the model is about to utter. */
  readonly onScript: (script: readonly ScriptPart[]) => void
  readonly tools: ToolWatch
}

/** One server: an engine with its model and tools, in virtual time. */
export function createProcess(parts: ProcessParts): SimulatedProcess {
  const { name, store, random, scheduler, count } = parts
  const clock: Clock = {
    now: scheduler.now,
    after: (ms, call) => scheduler.schedule(name, 'timer', ms, call),
    soon: (call) => void scheduler.schedule(name, 'soon', 0, call),
  }
  const script = ({ prompt }: ScriptedCall) => {
    const fresh = parts.isQuiescing() ? [{ text: 'That is all.' }] : randomScript(random)
    const shown = brokenOffIn(prompt)
    const utterance = shown === undefined ? fresh : carryOn(random, shown, fresh)
    parts.onScript(utterance)
    return utterance
  }
  const onCall = ({ prompt }: ScriptedCall) => parts.onPrompt(prompt)
  const hooks = (event: LifecycleEvent) => {
    const kind = kindOf(event)
    if (kind !== undefined) count(kind)
  }
  const holdfast = parts.create({
    ...parts.profile.options,
    store,
    files: { store: parts.fileStore, keepUnusedMs: unusedMs },
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

function kindOf(event: LifecycleEvent): CoverageKind | undefined {
  if (event.type === 'turn-started') return event.how === 'taken-over' ? 'takeover' : undefined
  return event.type === 'model-retried' ? 'model-retried' : undefined
}

/** What the model had uttered, if it is asked to continue it (AG8). */
function brokenOffIn(prompt: readonly PromptMessage[]): string | undefined {
  const [answer, request] = prompt.slice(-2)
  if (!JSON.stringify(request?.content ?? '').includes(carryOnBeginning)) return undefined
  const parts = answer?.content as readonly { readonly type: string; readonly text?: string }[]
  return parts.flatMap(({ type, text = '' }) => (type === 'text' ? [text] : [])).join('')
}

/** A model repeats the shown text, repeats its end, continues, or starts over. */
function carryOn(
  random: Random,
  shown: string,
  fresh: readonly ScriptPart[],
): readonly ScriptPart[] {
  const pieces = 1 + random.int(6)
  const repeated = random.pick([shown, shown, shown.slice(-12), '', undefined])
  return repeated === undefined
    ? fresh
    : [
        { text: `${repeated.toWellFormed()} and ${random.int(1_000)} more`, pieces },
        ...fresh.slice(1),
      ]
}

/** What the model utters in one step. A repeated step may get another script: models are not deterministic. */
function randomScript(random: Random): readonly ScriptPart[] {
  if (random.chance(0.03)) return [{ fails: retryable() }]
  const parts: ScriptPart[] = []
  if (random.chance(0.2)) parts.push({ reasoning: 'Let me think.' })
  if (random.chance(0.7)) {
    parts.push({ text: `${random.pick(texts)} ${random.int(1_000)}`, pieces: 1 + random.int(6) })
  }
  const calls = random.chance(0.6) ? 1 + random.int(random.chance(0.2) ? 5 : 2) : 0
  for (let count = 0; count < calls; count++) {
    parts.push(randomCall(random))
    if (random.chance(0.2)) parts.push({ text: 'And then:' })
  }
  return [...parts, ...randomEnd(random)]
}

const texts = ['Looking.', 'One moment, please.', '👩‍🚀👩‍🚀 𝒳𝒳𝒳𝒳', '', 'Done.']

function randomCall(random: Random): ScriptPart {
  const id = random.chance(0.3) ? { id: `call_${random.int(3)}` } : {}
  const streamed = random.chance(0.5)
  if (random.chance(0.05)) return { call: 'teleport', input: { n: 1 }, ...id }
  if (random.chance(0.05)) return { call: 'look', input: { n: 'one' }, streamed, ...id }
  if (random.chance(0.05)) {
    return { call: 'look', input: null, inputText: '{"n": 1', streamed, ...id }
  }
  if (random.chance(0.08)) {
    return { call: 'web', input: { query: 'x' }, providerResult: { found: 0 }, ...id }
  }
  const name = random.chance(0.35)
    ? random.pick(['erase', 'pay', 'charge'])
    : random.pick(toolNames)
  return { call: name, input: { n: random.int(10) }, streamed, ...id }
}

function randomEnd(random: Random): readonly ScriptPart[] {
  const dice = random.int(100)
  if (dice < 4) return [{ fails: new Error('The provider broke off.') }]
  if (dice < 7) return [{ cut: true }]
  if (dice < 9) return [{ fails: retryable() }]
  if (dice < 12) {
    return [{ call: 'look', input: { n: 1 }, cutOff: true }, { finish: 'length' }]
  }
  if (dice < 14) return [{ finish: 'length' }]
  if (dice < 15) return [{ finish: 'content-filter' }]
  return []
}

const retryable = (): Error => Object.assign(new Error('Overloaded.'), { statusCode: 503 })

type Model = Exclude<LanguageModel, string> & { readonly specificationVersion: 'v4' }

/** The same model with random pauses between its parts. */
function withPauses(model: LanguageModel, clock: Clock, random: Random): LanguageModel {
  const inner = model as Model
  return {
    ...inner,
    async doStream(call: Parameters<Model['doStream']>[0]) {
      const answer = await inner.doStream(call)
      const reader = answer.stream.getReader()
      const stream: typeof answer.stream = new ReadableStream({
        async pull(controller) {
          if (random.chance(0.12)) {
            await wait(clock, random.pick([1, 12, 40, 300]), call.abortSignal)
          }
          const next = await reader.read()
          if (next.done) controller.close()
          else controller.enqueue(next.value)
        },
        cancel: (reason) => reader.cancel(reason),
      })
      return { ...answer, stream }
    },
  }
}

/** How long the processes keep a file that no message refers to, in virtual milliseconds. */
export const unusedMs = 2_000

/** The bytes of the files of all processes, with the ids of those that exist. */
export interface SimulatedFiles extends FileStore {
  readonly ids: ReadonlySet<FileId>
}

export function createSimulatedFiles(): SimulatedFiles {
  const files = memoryFiles()
  const ids = new Set<FileId>()
  return {
    ...files,
    ids,
    async write(id, content, about) {
      await files.write(id, content, about)
      ids.add(id)
    },
    async remove(id) {
      await files.remove(id)
      ids.delete(id)
    },
  }
}
