import { memo, type ReactNode, useMemo, useState } from 'react'
import { type Call, needsPerson } from '../../core/call.ts'
import { callsOf, type Turn } from '../../core/message.ts'
import { DecideAll } from '../approval/decide-all.tsx'
import { DraftDecisionsProvider } from '../approval/draft-decisions.ts'
import { type CallActions, CallActionsProvider, useCallActions } from '../call-actions.ts'
import { type CardRegistry, cardOf, useCards } from '../tool-card/card-registry.tsx'
import { codeOf } from '../tool-card/code-of.ts'
import { ToolCard } from '../tool-card/tool-card.tsx'
import { isFile } from '../tool-card/value-view.tsx'

/** An unchanged call is not rendered again. */
const Card = memo(ToolCard)

interface TurnCardsProps {
  readonly turn: Turn
  readonly isLast: boolean
}

/** The cards of a turn, each call once, the last one wins (CD5). */
export function TurnCards({ turn, isLast }: TurnCardsProps): ReactNode {
  const cards = useCards()
  const actions = useActionsOf(isLast)
  const [drafts] = useState(() => new Map())
  const byId = new Map<string, Call>()
  for (const call of callsOf(turn)) byId.set(call.id, call)
  const calls = [...byId.values()]
  const shown = calls.filter((call) => showsCard(call, cards))
  const waiting = calls.filter(({ state }) => state === 'awaiting-approval')
  if (shown.length === 0) return null
  return (
    <CallActionsProvider value={actions}>
      <DraftDecisionsProvider value={drafts}>
        <div className="hf-cards">
          {waiting.length > 1 && <DecideAll calls={waiting} />}
          {shown.map((call) => (
            <Card key={call.id} call={call} />
          ))}
        </div>
      </DraftDecisionsProvider>
    </CallActionsProvider>
  )
}

/** A newer message has skipped all unknown outcomes before it, so the server would refuse a resolution there (CR3). */
function useActionsOf(isLast: boolean): CallActions {
  const actions = useCallActions()
  return useMemo(() => {
    const { resolve, ...rest } = actions
    return isLast ? actions : rest
  }, [actions, isLast])
}

/**
 * Tools without a card of their own are rows of the widget, unless a person is or was asked for a decision, or the
 * result is code to be read or a file to be opened. While the arguments stream, only a card that renders them is shown (FK6).
 */
function showsCard(call: Call, cards: CardRegistry): boolean {
  const entry = cardOf(cards, call.name)
  if (call.state === 'streaming') return entry?.drawsInput === true
  return (
    entry !== undefined ||
    needsPerson(call) ||
    call.approval === 'required' ||
    returnedArtifact(call)
  )
}

const returnedArtifact = (call: Call): boolean =>
  call.state === 'succeeded' &&
  call.output.kind === 'inline' &&
  (codeOf(call.output.value) !== undefined || isFile(call.output.value))
