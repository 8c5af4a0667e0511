import { createContext, useContext } from 'react'
import type { DecisionAnswer } from '../client/thread-client.ts'
import type { Json, JsonObject } from '../core/json.ts'

/**
 * What a person can do with a call. `<Thread>` gives all of it; a host with messages of its own gives
 * what it has, and the widgets leave out the rest.
 */
export interface CallActions {
  readonly decide?: (callId: string, answer: DecisionAnswer) => Promise<void>
  /** Several at once, in one request (AP6). */
  readonly decideAll?: (callIds: readonly string[], answer: DecisionAnswer) => Promise<void>
  /** False: whoever accepts can only say yes, so the arguments are shown and cannot be edited. */
  readonly editsArguments?: boolean
  readonly resolve?: (callId: string, resolution: 'retry' | 'done' | 'skip') => Promise<void>
  /** A result that was left out because of its size (PG7). */
  readonly loadResult?: (callId: string) => Promise<Json>
  /** The JSON Schema of a tool's arguments. */
  readonly readSchema?: (tool: string) => Promise<JsonObject | undefined>
}

const CallActionsContext = createContext<CallActions>({})
export const CallActionsProvider = CallActionsContext.Provider
export const useCallActions = (): CallActions => useContext(CallActionsContext)
