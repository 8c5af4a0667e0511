import { isTurnEvent, type NewEvent } from '../../core/event.ts'
import type { foldThread, ThreadView } from '../../core/fold-thread.ts'
import type { Seq, ThreadId } from '../../core/ids.ts'
import type { Step } from '../../core/message.ts'
import type { FinishReason } from '../../core/usage.ts'
import type { Append } from '../../store/plan-commit.ts'
import type { AppendResult, Store } from '../../store/store.ts'
import type { Random } from '../random.ts'
import type { PromptMessage, ScriptPart } from '../scripted-model.ts'
import { checkNewest, checkPages, checkPrompt, findDifference } from './check-views.ts'
import { type CoverageKind, kindsOfEvent } from './coverage.ts'
import { createOracle, type Oracle, type Report } from './oracle.ts'
import type { Scheduler } from './scheduler.ts'
import { createToolRuns, type ToolWatch } from './simulated-tools.ts'
import type { Frame } from '../../engine/follow/live-window.ts'
import type { SimulatedProcess } from './simulated-process.ts'

/** Receives what models uttered, tools ran and the store committed, and checks each against the others. */
export interface Observer {
  readonly oracleOf: (threadId: ThreadId) => Oracle
  readonly committed: (
    process: string,
    appends: readonly Append[],
    results: readonly AppendResult[],
  ) => Promise<void>
  readonly prompted: (process: string, prompt: readonly PromptMessage[]) => void
  readonly uttered: (process: string, script: readonly ScriptPart[]) => void
  /**
   * A store call of this process failed, or may have; only then may one of its turns fail because of the store (LG3).
   */
  readonly faulted: (process: string) => void
  readonly toolsOf: (process: string) => ToolWatch
}

export interface ObserverParts {
  readonly threads: readonly ThreadId[]
  readonly store: Store
  readonly random: Random
  readonly scheduler: Scheduler
  readonly isAlive: (holder: string) => boolean | undefined
  readonly fold: typeof foldThread
  readonly count: (kind: CoverageKind) => void
  readonly report: Report
}

export function createObserver(parts: ObserverParts): Observer {
  const { store, random, scheduler, count, report, isAlive, fold } = parts
  const oracles = new Map(
    parts.threads.map((id) => [
      id,
      createOracle(id, { now: scheduler.now, isAlive, fold, report }),
    ]),
  )
  const oracleOf = (threadId: ThreadId): Oracle => oracles.get(threadId) as Oracle
  const utterances = createUtterances(report)
  const faulty = new Set<string>()
  const runs = createToolRuns({
    oracles: () => oracles.values(),
    report,
    onRepeat: () => count('tool-repeated'),
  })

  const stored = (process: string, append: Append, result: AppendResult) => {
    if (result.kind !== 'appended') return
    const oracle = oracleOf(append.threadId)
    oracle.observe(append, result)
    utterances.checkStored(process, append.events, oracle)
    for (const event of append.events) {
      for (const kind of kindsOfEvent(event)) count(kind)
      runs.checkStored(event)
      if (isStoreFailure(event) && !faulty.has(process)) {
        report('LG3', 'a turn failed although nothing was lost')
      }
    }
  }

  return {
    oracleOf,
    async committed(process, appends, results) {
      // A fork is not written to after its creation: it is compared when it is created.
      const isSimulated = ({ threadId }: Append) => oracles.has(threadId)
      for (const [index, append] of appends.entries()) {
        if (isSimulated(append)) stored(process, append, results[index] as AppendResult)
      }
      for (const threadId of new Set(
        appends.filter(isSimulated).map((append) => append.threadId),
      )) {
        await checkNewest(store, threadId, oracleOf(threadId), report)
        if (!random.chance(0.05)) continue
        count('page-walk')
        await checkPages(store, threadId, oracleOf(threadId), 1 + random.int(6), report)
      }
    },
    prompted: (process, prompt) => checkPrompt(process, prompt, oracles.values(), report),
    uttered: (process, script) => utterances.record(process, script),
    faulted: (process) => void faulty.add(process),
    toolsOf: (process) => ({
      returned: runs.returned,
      began(tool, callId, input) {
        scheduler.note(`${process}: runs ${tool} for ${callId}`)
        count('tool-run')
        runs.began(tool, callId, input)
      },
    }),
  }
}

const isStoreFailure = (event: Append['events'][number]): boolean =>
  event.type === 'turn-ended' &&
  event.ending.kind === 'failed' &&
  event.ending.error.code === 'store-failed'

/** What the models of all processes uttered, checked against what is stored of it (LG3). */
interface Utterances {
  record(process: string, script: readonly ScriptPart[]): void
  /** A stored step is a prefix of an utterance, and all of it if the step ended by itself. */
  checkStored(process: string, events: readonly NewEvent[], oracle: Oracle): void
}

const whole: ReadonlySet<FinishReason> = new Set(['stop', 'tool-calls', 'length', 'content-filter'])

function createUtterances(report: Report): Utterances {
  const scripts = new Map<string, Set<string>>()

  /**
   * Text stored after the shown text is the rest of an utterance, without its repetition of the shown text, and nothing
   * else (AG8).
   */
  const checkResumed = (shownChars: number, text: string, known: readonly string[]): void => {
    const shown = squeeze(text.slice(0, shownChars))
    const rest = text.slice(shownChars)
    const isRestOf = (script: string): boolean => {
      for (let at = script.indexOf(rest); at !== -1; at = script.indexOf(rest, at + 1)) {
        const dropped = squeeze(script.slice(0, at))
        if (shown.endsWith(dropped) || shown.startsWith(dropped)) return true
      }
      return false
    }
    if (!known.some(isRestOf)) {
      report('LG3', `"${rest}" was stored after "${shown}", and something before or in it was not`)
    }
    // An utterance may contain the same word twice in a row; but not if the model was only asked to continue.
    const isUttered = known.some(
      (script) => !isCarriedOn(script) && squeeze(script).startsWith(squeeze(text)),
    )
    if (squeeze(rest).startsWith(shown) && !isUttered) report('AG8', `"${shown}" was said twice`)
  }

  return {
    record(process, script) {
      const text = script.flatMap((part) => ('text' in part ? [part.text] : [])).join('')
      scripts.set(process, (scripts.get(process) ?? new Set()).add(text))
    },
    checkStored(process, events, oracle) {
      const known = [...(scripts.get(process) ?? [])]
      for (const event of events) {
        if (!isTurnEvent(event)) continue
        const steps = oracle.turns.get(event.turnId)?.steps ?? []
        const last = steps.at(-1)
        const text = textOf(last)
        if (last?.resumedAfter !== undefined) {
          if (event.type === 'text-appended') checkResumed(last.resumedAfter, text, known)
          continue
        }
        if (event.type === 'text-appended' && !known.some((script) => script.startsWith(text))) {
          report('LG3', `"${text}" was stored, and something before or in it was not`)
        }
        if (event.type === 'step-ended' && whole.has(event.finishReason)) {
          const ended = steps.findLast(({ status }) => status === 'ended')
          if (ended?.resumedAfter !== undefined) continue
          if (known.includes(textOf(ended))) continue
          report('LG3', `a step was stored as "${textOf(ended)}", which no model said`)
        }
      }
    },
  }
}

/** Recognized by the phrase that `carryOn` uses. */
const isCarriedOn = (script: string): boolean => / and \d+ more/.test(script)

const squeeze = (text: string): string => text.replaceAll(/\s+/g, '')

function textOf(step: Step | undefined): string {
  const parts = step?.parts ?? []
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
}

/** A client that follows a thread through some process and folds the frames it receives. */
export interface Viewer {
  readonly name: string
  readonly threadId: ThreadId
  readonly view: ThreadView
  /** The process it is connected to. */
  readonly through: string | null
  connect(process: SimulatedProcess): void
  drop(): void
  /** Drops its state, reads a page of this size and follows from the seq of that page. */
  reload(process: SimulatedProcess, limit: number): Promise<void>
}

export interface ViewerParts {
  readonly name: string
  readonly threadId: ThreadId
  readonly oracle: Oracle
  readonly fold: typeof foldThread
  readonly report: Report
  /** Delays the next frame, as a slow client does. */
  readonly pause: () => Promise<void> | undefined
}

export function createViewer(parts: ViewerParts): Viewer {
  const { name, threadId, oracle, report } = parts
  let view: ThreadView = { seq: 0, messages: [] }
  /** The seq of the oldest message that it has loaded; older ones are not compared. */
  let from: Seq = 0
  let pageSize = 5
  let connection: { readonly through: string; readonly controller: AbortController } | null = null

  const receive = (frame: Frame) => {
    if (frame.after !== view.seq || frame.seq <= frame.after) {
      report('RS2', `${name} at ${view.seq} was sent ${frame.after} to ${frame.seq}`)
    }
    view = parts.fold(view, frame.changes)
    if (view.seq !== frame.seq) view = { ...view, seq: frame.seq }
    // Messages that were shown again are not loaded yet: they are read before anything is compared (VR2).
    if (view.outdatedAt !== undefined) return
    const expected = oracle.viewAt(frame.seq)
    if (expected === undefined) {
      report('LG2', `${name} was shown ${frame.seq}, which was not stored`)
      return
    }
    const window = expected.messages.filter(({ seq }) => seq >= from)
    const difference = findDifference(view.messages, window)
    if (difference !== undefined) report('LG4', `${name} at ${frame.seq} ${difference}`)
  }

  const follow = async (process: SimulatedProcess, controller: AbortController) => {
    const { signal } = controller
    try {
      for await (const frame of process.holdfast.subscribe(threadId, view.seq, signal)) {
        if (signal.aborted) return
        receive(frame)
        if (view.outdatedAt !== undefined) return void viewer.reload(process, pageSize)
        await parts.pause()
        if (signal.aborted) return
      }
    } catch {
      // The process lost its database; `quiesce` connects the viewer again.
    }
    if (connection?.controller === controller) connection = null
  }

  const viewer: Viewer = {
    name,
    threadId,
    get view() {
      return view
    },
    get through() {
      return connection?.through ?? null
    },
    connect(process) {
      viewer.drop()
      if (view.outdatedAt !== undefined) return void viewer.reload(process, pageSize)
      const controller = new AbortController()
      connection = { through: process.name, controller }
      void follow(process, controller)
    },
    drop() {
      connection?.controller.abort()
      connection = null
    },
    async reload(process, limit) {
      viewer.drop()
      pageSize = limit
      const query = { threadId, limit, before: null, live: 'include', results: 'full' } as const
      const page = await process.store.readPage(query).catch(() => null)
      if (page === null) return
      from = page.hasMore ? (page.messages.at(-1)?.seq ?? 0) : 0
      view = { seq: page.seq, from, messages: page.messages.toReversed() }
      const expected = oracle.viewAt(page.seq)?.messages.filter(({ seq }) => seq >= from)
      const difference = findDifference(view.messages, expected ?? [])
      if (difference !== undefined) report('LG4', `${name}'s page at ${page.seq} ${difference}`)
      viewer.connect(process)
    },
  }
  return viewer
}
