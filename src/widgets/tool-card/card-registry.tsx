import { type ComponentType, createContext, type ReactNode, useContext } from 'react'
import type { Call } from '../../core/call.ts'
import type { Json } from '../../core/json.ts'

/** What a card is drawn from: the same props live, after navigation and after a reload (CD1). */
export interface CardProps {
  readonly call: Call
  readonly input: Json
  /** Undefined while there is none. */
  readonly output: Json | undefined
}

export interface CardEntry {
  readonly component: ComponentType<CardProps>
  /** Brings the payload of an old version up to the one the component draws (CD4). */
  readonly upcast?: (output: Json) => Json
}

/** Cards by the name of their tool. A tool without one gets the generic card. */
export type CardRegistry = Readonly<Record<string, CardEntry>>

const CardContext = createContext<CardRegistry>({})

export function CardProvider(props: {
  readonly cards: CardRegistry
  readonly children: ReactNode
}): ReactNode {
  return <CardContext.Provider value={props.cards}>{props.children}</CardContext.Provider>
}

export function useCard(name: string): CardEntry | undefined {
  const cards = useContext(CardContext)
  return Object.hasOwn(cards, name) ? cards[name] : undefined
}
