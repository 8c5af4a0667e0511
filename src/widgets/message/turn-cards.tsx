import { memo, type ReactNode } from 'react'
import { type Call, needsPerson } from '../../core/call.ts'
import { callsOf, type Turn } from '../../core/message.ts'
import { DecideAll } from '../approval/decide-all.tsx'
import { type CardRegistry, cardOf, useCards } from '../tool-card/card-registry.tsx'
import { ToolCard } from '../tool-card/tool-card.tsx'

/** A call that did not change is not drawn again. */
const Card = memo(ToolCard)

/** The cards of a turn, each call once, the last one wins (CD5). */
export function TurnCards({ turn }: { readonly turn: Turn }): ReactNode {
  const cards = useCards()
  const byId = new Map<string, Call>()
  for (const call of callsOf(turn)) byId.set(call.id, call)
  const calls = [...byId.values()]
  const shown = calls.filter((call) => showsCard(call, cards))
  const waiting = calls.filter(({ state }) => state === 'awaiting-approval')
  if (shown.length === 0) return null
  return (
    <div className="hf-cards">
      {waiting.length > 1 && <DecideAll calls={waiting} />}
      {shown.map((call) => (
        <Card key={call.id} call={call} />
      ))}
    </div>
  )
}

/** Tools without a card of their own are rows of the widget, unless a person is or was asked. */
const showsCard = (call: Call, cards: CardRegistry): boolean =>
  call.state !== 'streaming' &&
  (cardOf(cards, call.name) !== undefined || needsPerson(call) || call.approval === 'required')
