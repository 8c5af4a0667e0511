import { type BudgetLimits, createFairBudget, type BudgetShare } from './fair-budget.ts'
import type { OwnerId } from '../../core/ids.ts'
import type { BoundedHistory, HistorySource } from '../model/read-history.ts'
import { longestHistoryChars } from '../options/options.ts'

/** What the prompts of one owner's runs, and of all runs of this process, may hold at once. */
export interface PromptLimits {
  readonly historyChars: BudgetLimits
  readonly fileBytes: BudgetLimits
}

const mebi = 1_048_576
/** Of the largest prompts an owner has a few at once; of usual ones, as many as `runsPerOwner` allows. */
const promptLimits: PromptLimits = {
  historyChars: { perKey: 128 * mebi, ofAll: 256 * mebi },
  fileBytes: { perKey: 256 * mebi, ofAll: 512 * mebi },
}

/**
 * The memory of prompts. A run holds its history and its files until it ends, so the number of runs and the size of their
 * prompts decide together what a process needs. An owner's further runs with large ones wait until there is room; the first
 * one never waits (OP7).
 */
export interface PromptMemory {
  open(ownerId: OwnerId, signal: AbortSignal): RunMemory
}

/** What one run holds. It waits once for its history and then once for its files, so no two runs wait for one another. */
export interface RunMemory {
  /** Reads a small history at once. For a larger one it waits for room for the largest, reads, and holds what was read. */
  readHistory(source: HistorySource): Promise<BoundedHistory>
  /** Waits for room for the bytes of all files of the prompt; in later steps, only counts them. */
  holdFiles(bytes: number): Promise<void>
  /** The bytes that were loaded. */
  countFiles(bytes: number): void
  /** Gives everything back. */
  release(): void
}

export function createPromptMemory(limits: PromptLimits = promptLimits): PromptMemory {
  const histories = createFairBudget(limits.historyChars)
  const files = createFairBudget(limits.fileBytes)
  return {
    open(ownerId, signal) {
      let history: Promise<BudgetShare> | undefined
      let file: Promise<BudgetShare> | undefined
      const use = (share: Promise<BudgetShare> | undefined, work: (share: BudgetShare) => void) => {
        share?.then(work, () => undefined)
      }
      return {
        async readHistory(source) {
          const small = await source.readSmall()
          if (small !== null) return small
          history ??= histories(ownerId, longestHistoryChars, signal)
          const share = await history
          const found = await source.read()
          share.resize(found.chars)
          return found
        },
        async holdFiles(bytes) {
          const isFirst = file === undefined
          file ??= files(ownerId, bytes, signal)
          const share = await file
          if (!isFirst) share.resize(bytes)
        },
        countFiles: (bytes) => use(file, (share) => share.resize(bytes)),
        release() {
          for (const share of [history, file]) use(share, (held) => held.release())
        },
      }
    },
  }
}
