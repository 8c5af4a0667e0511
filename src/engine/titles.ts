import type { LanguageModel } from 'ai'
import { errorTextOfThrown, toReadableThrown } from '../core/error-text.ts'
import type { NewThreadEvent } from '../core/event.ts'
import type { ThreadId } from '../core/ids.ts'
import type { Usage } from '../core/usage.ts'
import { withDefined } from '../core/with-defined.ts'
import { retryWhileStale } from '../store/retry-while-stale.ts'
import type { Append } from '../store/plan-commit.ts'
import type { Store } from '../store/store.ts'
import { toTitlePrompt, toTitleText } from '../views/title-text.ts'
import { callModel, type CallSettings } from './call-model.ts'
import type { TurnPlace } from './call-scope.ts'
import { type Clock, pauseOf } from './clock.ts'
import type { CommitResult } from './committer.ts'
import { createFileLoader } from './file-loader.ts'
import type { Hooks } from './hooks.ts'
import { toModelFault } from './model-error.ts'
import { namesOf } from './model-list.ts'
import type { TitleOptions } from './title-options.ts'
import { toUsage } from './translate-part.ts'
import type { TurnAgent } from './turn-agent.ts'

/** Makes titles for threads that nobody has named, each beside whatever else is going on. */
export interface Titles {
  /** An answer has ended. Returns at once; what fails is told to the hooks and to nobody else. */
  readonly answered: (place: TurnPlace, agent: TurnAgent | undefined) => void
  /** Breaks off what is under way, and begins no more. */
  readonly stop: () => void
  /** Resolves when nothing is under way. */
  readonly settled: () => Promise<void>
}

export interface TitleParts {
  readonly store: Store
  readonly clock: Clock
  readonly emit: Hooks
  readonly append: (append: Append) => Promise<CommitResult>
  /** False: no titles are made. */
  readonly options: TitleOptions | false
}

const ownInstructions =
  'You name conversations. Answer with a title for the one below, and with nothing else: three to six words in the language of the conversation that say what it is about. One line, no quotes, no markdown, no full stop.'

/** A model that says nothing for so long has failed. */
const longestMs = 30_000
/** Whatever else it says is not going to be a title. */
const mostChars = 1_000
/** What a title is made of: the first question, its answer, and a little more where that was short. */
const messagesRead = 4
const bytesRead = 262_144

export function createTitles(parts: TitleParts): Titles {
  const { options } = parts
  const stopped = new AbortController()
  const underWay = new Map<ThreadId, Promise<void>>()
  if (options === false) {
    return { answered: () => undefined, stop: () => undefined, settled: async () => undefined }
  }
  return {
    answered(place, agent) {
      const { threadId } = place
      if (stopped.signal.aborted || underWay.has(threadId)) return
      const made = nameThread(parts, options, place, agent, stopped.signal)
        .catch((error: unknown) => {
          if (!stopped.signal.aborted) parts.emit(toFailure(place, error))
        })
        .finally(() => underWay.delete(threadId))
      underWay.set(threadId, made)
    },
    stop: () => stopped.abort(new DOMException('The process is going.', 'AbortError')),
    async settled() {
      while (underWay.size > 0) await Promise.all(underWay.values())
    },
  }
}

async function nameThread(
  { store, clock, emit, append }: TitleParts,
  { model, instructions = ownInstructions }: TitleOptions,
  place: TurnPlace,
  agent: TurnAgent | undefined,
  stopped: AbortSignal,
): Promise<void> {
  const { threadId } = place
  const models = model === undefined ? (agent?.models ?? []) : toList(model)
  // A loop of the host's own has no model that is known here.
  if (models.length === 0) return
  const thread = await store.readThread(threadId)
  if (thread === null || thread.titledBy !== null) return
  const page = await store.readPage({
    ...{ threadId, limit: messagesRead, before: null, order: 'oldest-first' },
    ...{ live: 'exclude', results: 'lazy', maxBytes: bytesRead },
  })
  const prompt = page === null ? null : toTitlePrompt(page.messages)
  if (prompt === null) return
  const begun = clock.now()
  // Another model knows nothing of what the agent's is told beside its words.
  const settings = model === undefined ? ownSettings(agent?.settings) : {}
  const made = await askInTurn({ clock, models, instructions, prompt, settings, stopped })
  const title = toTitleText(made.text)
  if (title === null) throw new Error('The model said nothing that could be a title.')
  const { usage, modelId } = made
  const isStored = await retryWhileStale(pauseOf(clock), async () => {
    // Whoever has named it meanwhile has won: at this seq nobody has, or the append is refused (FK3).
    const now = await store.readThread(threadId)
    if (now === null || now.titledBy !== null) return false
    const renamed = { type: 'thread-renamed', title, by: 'model', model: modelId } as const
    const event: NewThreadEvent = withDefined({ ...renamed, at: clock.now() }, { usage })
    const { kind } = await append({ threadId, events: [event], expectedSeq: now.seq })
    return kind === 'stale' ? kind : kind === 'appended'
  })
  const ms = clock.now() - begun
  emit(withDefined({ type: 'title-made', ...place, modelId, isStored, ms } as const, { usage }))
}

const toList = (model: NonNullable<TitleOptions['model']>): readonly LanguageModel[] =>
  Array.isArray(model) ? (model as readonly LanguageModel[]) : [model as LanguageModel]

const ownSettings = (settings: CallSettings | undefined): CallSettings =>
  withDefined({}, { headers: settings?.headers, providerOptions: settings?.providerOptions })

interface TitleCall {
  readonly clock: Clock
  readonly models: readonly LanguageModel[]
  readonly instructions: string
  readonly prompt: string
  readonly settings: CallSettings
  readonly stopped: AbortSignal
}

interface SaidTitle {
  readonly text: string
  readonly modelId: string
  readonly usage?: Usage
}

/** The first of the models that answers. */
async function askInTurn(call: TitleCall): Promise<SaidTitle> {
  let failure: unknown
  for (const model of call.models) {
    try {
      return await askOne(call, model)
    } catch (error) {
      call.stopped.throwIfAborted()
      failure = error
    }
  }
  throw failure
}

async function askOne(call: TitleCall, model: LanguageModel): Promise<SaidTitle> {
  const { clock, instructions, prompt, settings, stopped } = call
  const late = new AbortController()
  const cancel = clock.after(longestMs, () =>
    late.abort(new Error(`The model took longer than ${longestMs} ms.`)),
  )
  const signal = AbortSignal.any([stopped, late.signal])
  let text = ''
  let usage: Usage | undefined
  const said = callModel(
    {
      ...{ model, instructions, settings, signal, tools: {}, toolsContext: {} },
      messages: [{ role: 'user', content: prompt }],
      files: createFileLoader(clock, signal),
    },
    (part) => {
      if (part.type === 'error') throw part.error
      if (part.type === 'text-delta') text += part.text
      if (part.type === 'model-call-end') usage = toUsage(part.usage)
      return text.length > mostChars || part.type === 'model-call-end' ? 'enough' : 'more'
    },
  )
  try {
    // Not every model heeds its signal, and a shutdown must not wait for one that does not.
    await Promise.race([said, untilAborted(signal)])
  } finally {
    cancel()
    late.abort()
    said.catch(() => undefined)
  }
  return withDefined({ text, modelId: namesOf(model).modelId }, { usage })
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<void>()
  signal.addEventListener('abort', () => aborted.resolve(), { once: true })
  if (!signal.aborted) await aborted.promise
  signal.throwIfAborted()
}

function toFailure(place: TurnPlace, thrown: unknown): Parameters<Hooks>[0] {
  const error = toReadableThrown(thrown)
  const { code } = toModelFault(error)
  const message = errorTextOfThrown(error) || 'it gave no reason'
  const sentence = 'No title could be made.'
  const errorId = place.turnId.slice(-8).toWellFormed()
  return { type: 'failed', source: 'title', ...place, code, errorId, message, sentence, error }
}
