import { createContext, useContext } from 'react'
import type { DecisionAnswer } from '../client/thread-snapshot.ts'
import type { Json, JsonObject } from '../core/json.ts'

/**
 * What a person can do with a call. `<Thread>` gives all of it; a host with messages of its own gives
 * what it has, and the widgets leave out the rest.
 */
export interface CallActions {
  /** Accepts or rejects a call that waits for approval. Without it both buttons are disabled. */
  readonly decide?: (callId: string, answer: DecisionAnswer) => Promise<void>
  /** Several at once, in one request (AP6). Without it there is no button for all of them. */
  readonly decideAll?: (callIds: readonly string[], answer: DecisionAnswer) => Promise<void>
  /**
   * False: whoever accepts can only say yes, so the arguments are shown and cannot be edited.
   *
   * @default true
   */
  readonly editsArguments?: boolean
  /** Says what became of a call whose outcome is unknown (CR3). Without it the buttons are disabled. */
  readonly resolve?: (callId: string, resolution: 'retry' | 'done' | 'skip') => Promise<void>
  /** Reads a result that was left out because of its size (PG7). Without it such a result cannot be opened. */
  readonly loadResult?: (callId: string) => Promise<Json>
  /** The JSON Schema of a tool's arguments. Without it the form shows the arguments that are there. */
  readonly readSchema?: (tool: string) => Promise<JsonObject | undefined>
  /** Whether a tool may be run again without harm. Without it none is taken to be (VR3). */
  readonly isRepeatable?: (tool: string) => Promise<boolean>
}

const CallActionsContext = createContext<CallActions>({})
/** Tells the widgets below what a person can do with a call. `<Thread>` brings its own. */
export const CallActionsProvider = CallActionsContext.Provider
/** What a person can do with a call here; nothing without a provider. */
export const useCallActions = (): CallActions => useContext(CallActionsContext)
