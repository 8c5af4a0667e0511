import type { LanguageModel } from 'ai'
import { errorTextOfThrown, toReadableThrown } from '../../core/error-text.ts'
import type { NewThreadEvent } from '../../core/event.ts'
import type { ThreadId } from '../../core/ids.ts'
import type { Usage } from '../../core/usage.ts'
import { withDefined } from '../../core/with-defined.ts'
import { isAnother } from '../../core/thread-place.ts'
import { retryWhileStale } from '../../store/retry-while-stale.ts'
import type { Append } from '../../store/plan-commit.ts'
import type { Store } from '../../store/store.ts'
import { toTitlePrompt, toTitleText } from '../../views/title-text.ts'
import { callModel, type CallSettings } from '../model/call-model.ts'
import type { TurnPlace } from '../call-scope.ts'
import { type Clock, pauseOf } from '../clock.ts'
import type { CommitResult } from '../run/committer.ts'
import { createFileLoader } from '../files/file-loader.ts'
import type { Hooks } from '../telemetry/hooks.ts'
import { toModelFault } from '../model/model-error.ts'
import { namesOf } from '../model/model-list.ts'
import type { TitleOptions } from './title-options.ts'
import { toUsage } from '../model/translate-part.ts'
import type { TurnAgent } from '../agent/turn-agent.ts'

/** Generates titles for unnamed threads, in the background. */
export interface Titles {
  /** Called when an answer has ended. Returns at once; failures are reported to the hooks only. */
  readonly answered: (place: TurnPlace, agent: TurnAgent | undefined) => void
  /** Aborts titles in flight, and begins no more. */
  readonly stop: () => void
  /** Resolves when no title is in flight. */
  readonly settled: () => Promise<void>
}

export interface TitleParts {
  readonly store: Store
  readonly clock: Clock
  readonly emit: Hooks
  readonly append: (append: Append) => Promise<CommitResult>
  /** False: no titles are generated. */
  readonly options: TitleOptions | false
}

const ownInstructions =
  'You name conversations. Answer with a title for the one below, and with nothing else: three to six words in the language of the conversation that say what it is about. One line, no quotes, no markdown, no full stop.'

/** A model that sends nothing for this long has failed. */
const longestMs = 30_000
/** Longer output is not a title: the rest is not read. */
const mostChars = 1_000
/** A title is based on the first question, its answer, and a little more where that was short. */
const messagesRead = 4
const bytesRead = 262_144

export function createTitles(parts: TitleParts): Titles {
  const { options } = parts
  const stopped = new AbortController()
  const inFlight = new Map<ThreadId, Promise<void>>()
  if (options === false) {
    return { answered: () => undefined, stop: () => undefined, settled: async () => undefined }
  }
  return {
    answered(place, agent) {
      const { threadId } = place
      if (stopped.signal.aborted || inFlight.has(threadId)) return
      const made = nameThread(parts, options, place, agent, stopped.signal)
        .catch((error: unknown) => {
          if (!stopped.signal.aborted) parts.emit(toFailure(place, error))
        })
        .finally(() => inFlight.delete(threadId))
      inFlight.set(threadId, made)
    },
    stop: () => stopped.abort(new DOMException('The process is closing.', 'AbortError')),
    async settled() {
      while (inFlight.size > 0) await Promise.all(inFlight.values())
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
  // The host application's own loop has no model that is known here.
  if (models.length === 0) return
  const thread = await store.readThread(threadId)
  if (thread === null || thread.titledBy !== null) return
  const page = await store.readPage({
    ...{ threadId, limit: messagesRead, before: null, order: 'oldest-first' },
    ...{ live: 'exclude', results: 'lazy', maxBytes: bytesRead },
  })
  const prompt = page === null ? null : toTitlePrompt(page.messages)
  if (prompt === null) return
  const { incarnation = '' } = page?.place ?? {}
  const begun = clock.now()
  // Another model does not get the agent's provider options and settings.
  const settings = model === undefined ? ownSettings(agent?.settings) : {}
  const made = await callInOrder({ clock, models, instructions, prompt, settings, stopped })
  const title = toTitleText(made.text)
  if (title === null) throw new Error('The output of the model has no usable title.')
  const { usage, modelId } = made
  const isStored = await retryWhileStale(pauseOf(clock), async () => {
    // A title that was set meanwhile wins: it is checked at this seq, and the append is refused if the seq has changed
    // (FK3).
    const now = await store.readThread(threadId)
    if (now === null || now.titledBy !== null) return false
    // A thread that was deleted and made anew under this id is another conversation, which this title is not about
    // (OP6).
    if (isAnother(incarnation, now.incarnation ?? '')) return false
    const renamed = { type: 'thread-renamed', title, by: 'model', model: modelId } as const
    const event: NewThreadEvent = withDefined({ ...renamed, at: clock.now() }, { usage })
    const { kind } = await append({
      ...{ threadId, events: [event], expectedSeq: now.seq, incarnation },
    })
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

interface GeneratedTitle {
  readonly text: string
  readonly modelId: string
  readonly usage?: Usage
}

/** The result of the first model that responds. */
async function callInOrder(call: TitleCall): Promise<GeneratedTitle> {
  let failure: unknown
  for (const model of call.models) {
    try {
      return await callOne(call, model)
    } catch (error) {
      call.stopped.throwIfAborted()
      failure = error
    }
  }
  throw failure
}

async function callOne(call: TitleCall, model: LanguageModel): Promise<GeneratedTitle> {
  const { clock, instructions, prompt, settings, stopped } = call
  const late = new AbortController()
  const cancel = clock.after(longestMs, () =>
    late.abort(new Error(`The model took longer than ${longestMs} ms.`)),
  )
  const signal = AbortSignal.any([stopped, late.signal])
  let text = ''
  let usage: Usage | undefined
  const calling = callModel(
    {
      ...{ model, instructions, settings, signal, tools: {}, toolsContext: {} },
      messages: [{ role: 'user', content: prompt }],
      files: createFileLoader(clock, signal),
      // There are no tools.
      patience: async (called) => called,
    },
    (part) => {
      if (part.type === 'error') throw part.error
      if (part.type === 'text-delta') text += part.text
      if (part.type === 'model-call-end') usage = toUsage(part.usage)
      return text.length > mostChars || part.type === 'model-call-end' ? 'enough' : 'more'
    },
    clock,
  )
  try {
    // Not every model reacts to its signal, and a shutdown must not wait for one that does not.
    await Promise.race([calling, untilAborted(signal)])
  } finally {
    cancel()
    late.abort()
    calling.catch(() => undefined)
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
  const sentence = 'The title could not be created.'
  const errorId = place.turnId.slice(-8).toWellFormed()
  return { type: 'failed', source: 'title', ...place, code, errorId, message, sentence, error }
}
