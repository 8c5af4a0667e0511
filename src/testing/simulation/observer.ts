import type { foldThread } from '../../core/fold-thread.ts'
import type { ThreadId } from '../../core/ids.ts'
import type { Append } from '../../store/plan-commit.ts'
import type { AppendResult, Store } from '../../store/store.ts'
import type { Random } from '../random.ts'
import type { PromptMessage, ScriptPart } from '../scripted-model.ts'
import { checkNewest, checkPages } from './check-pages.ts'
import { checkPrompt } from './check-prompt.ts'
import { kindsOf } from './kinds-of-event.ts'
import type { Scheduler } from './scheduler.ts'
import type { ToolWatch } from './simulated-tools.ts'
import { createSpeech } from './speech.ts'
import type { Kind } from './tally.ts'
import { createToolRuns } from './tool-runs.ts'
import type { Report } from './violation.ts'
import { createWitness, type Witness } from './witness.ts'

/** Sees what processes say, run and store, and holds each against the others. */
export interface Observer {
  readonly witnessOf: (threadId: ThreadId) => Witness
  readonly committed: (
    process: string,
    appends: readonly Append[],
    results: readonly AppendResult[],
  ) => Promise<void>
  readonly prompted: (process: string, prompt: readonly PromptMessage[]) => void
  readonly spoke: (process: string, script: readonly ScriptPart[]) => void
  /** Something that a process said was not heard, or not known to be. */
  readonly misheard: (process: string) => void
  readonly toolsOf: (process: string) => ToolWatch
}

export interface ObserverParts {
  readonly threads: readonly ThreadId[]
  readonly store: Store
  readonly random: Random
  readonly scheduler: Scheduler
  readonly isAlive: (holder: string) => boolean | undefined
  readonly fold: typeof foldThread
  readonly count: (kind: Kind) => void
  readonly report: Report
}

export function createObserver(parts: ObserverParts): Observer {
  const { store, random, scheduler, count, report, isAlive, fold } = parts
  const witnesses = new Map(
    parts.threads.map((id) => [
      id,
      createWitness(id, { now: scheduler.now, isAlive, fold, report }),
    ]),
  )
  const witnessOf = (threadId: ThreadId): Witness => witnesses.get(threadId) as Witness
  const speech = createSpeech(report)
  const misheard = new Set<string>()
  const runs = createToolRuns({
    witnesses: () => witnesses.values(),
    report,
    onRepeat: () => count('tool-repeated'),
  })

  const stored = (process: string, append: Append, result: AppendResult) => {
    if (result.kind !== 'appended') return
    const witness = witnessOf(append.threadId)
    witness.observe(append, result)
    speech.stored(process, append.events, witness)
    for (const event of append.events) {
      for (const kind of kindsOf(event)) count(kind)
      runs.stored(event)
      if (isStoreFailure(event) && !misheard.has(process)) {
        report('LG3', 'a turn failed although nothing was lost')
      }
    }
  }

  return {
    witnessOf,
    async committed(process, appends, results) {
      for (const [index, append] of appends.entries()) {
        stored(process, append, results[index] as AppendResult)
      }
      for (const threadId of new Set(appends.map((append) => append.threadId))) {
        await checkNewest(store, threadId, witnessOf(threadId), report)
        if (!random.chance(0.05)) continue
        count('page-walk')
        await checkPages(store, threadId, witnessOf(threadId), 1 + random.int(6), report)
      }
    },
    prompted: (process, prompt) => checkPrompt(process, prompt, witnesses.values(), report),
    spoke: (process, script) => speech.said(process, script),
    misheard: (process) => void misheard.add(process),
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
