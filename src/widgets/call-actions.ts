import { createContext, useContext } from 'react'
import type { DecisionAnswer } from '../client/thread-snapshot.ts'
import type { Json, JsonObject } from '../core/json.ts'

/**
 * What a person can do with a call. `<Thread>` provides all of it; a host application with messages of its own provides
 * what it supports, and the widgets leave out the rest.
 */
export interface CallActions {
  /** Accepts or rejects a call that waits for approval. Without it both buttons are disabled. */
  readonly decide?: (callId: string, answer: DecisionAnswer) => Promise<void>
  /**
   * Several decisions in one request (AP6). `own`: the answers of calls whose forms were filled in, in place of `answer`.
   * Without it there is no button for all of them.
   */
  readonly decideAll?: (
    callIds: readonly string[],
    answer: DecisionAnswer,
    own?: ReadonlyMap<string, DecisionAnswer>,
  ) => Promise<void>
  /**
   * False: a decision is only yes or no, so the arguments are shown and cannot be edited.
   * @default true
   */
  readonly editsArguments?: boolean
  /** Resolves a call whose outcome is unknown (CR3). Without it the buttons are disabled. */
  readonly resolve?: (callId: string, resolution: 'retry' | 'done' | 'skip') => Promise<void>
  /** Reads a result that was left out because of its size (PG7). Without it such a result cannot be opened. */
  readonly loadResult?: (callId: string) => Promise<Json>
  /** The JSON Schema of a tool's arguments. Without it the form shows the existing arguments. */
  readonly readSchema?: (tool: string) => Promise<JsonObject | undefined>
  /** Whether a tool may be run again without harm. Without it no tool counts as repeatable (VR3). */
  readonly isRepeatable?: (tool: string) => Promise<boolean>
}

const CallActionsContext = createContext<CallActions>({})
/** Provides the actions on calls to the widgets below. `<Thread>` brings its own. */
export const CallActionsProvider = CallActionsContext.Provider
/** The actions on calls here; none without a provider. */
export const useCallActions = (): CallActions => useContext(CallActionsContext)
