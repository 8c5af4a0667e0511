import { createContext, useContext, useEffect } from 'react'
import type { DecisionAnswer } from '../../client/thread-snapshot.ts'

/** The answers that a form would send as it is filled in now. */
export interface DraftDecision {
  /** Null: a field has no value yet. */
  readonly accept: DecisionAnswer | null
  readonly reject: DecisionAnswer
}

type DraftDecisions = Map<string, DraftDecision>

const DraftDecisionsContext = createContext<DraftDecisions | null>(null)
/** Above the forms of a turn and the buttons for all of them, which send what each form shows (AP3, AP6). */
export const DraftDecisionsProvider = DraftDecisionsContext.Provider

/** The drafts by call; empty without a provider. Read when a person decides, not while rendering. */
export const useDraftDecisions = (): ReadonlyMap<string, DraftDecision> =>
  useContext(DraftDecisionsContext) ?? new Map()

/** Publishes what a form would send, as long as the form is shown. */
export function useDraftDecision(callId: string, draft: DraftDecision): void {
  const drafts = useContext(DraftDecisionsContext)
  useEffect(() => {
    drafts?.set(callId, draft)
    return () => void drafts?.delete(callId)
  })
}
