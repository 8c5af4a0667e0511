import { type ComponentType, createContext, type ReactNode, useContext } from 'react'
import type { Call } from '../../core/call.ts'
import { isJsonObject, type Json } from '../../core/json.ts'

/** What a card is drawn from: the same props live, after navigation and after a reload (CD1). */
export interface CardProps {
  readonly call: Call
  readonly input: Json
  readonly output: Json
}

export interface CardEntry {
  readonly component: ComponentType<CardProps>
  /**
   * Further names that the tool has or had, such as those in old threads. A tool that has an entry under
   * its own name is drawn with that one.
   *
   * @default []
   */
  readonly names?: readonly string[]
  /** The version of the payload that the component draws; a payload says its own in `version`. */
  readonly version?: string
  /** From an old version to the next one (CD4). A payload that says none has version `0`. */
  readonly upcasters?: Readonly<Record<string, (output: Json) => Json>>
}

/**
 * Cards by the name of their tool; an entry may have further names. A tool without one gets the generic
 * card.
 */
export type CardRegistry = Readonly<Record<string, CardEntry>>

const CardContext = createContext<CardRegistry>({})

export function CardProvider(props: {
  readonly cards: CardRegistry
  readonly children: ReactNode
}): ReactNode {
  return <CardContext.Provider value={props.cards}>{props.children}</CardContext.Provider>
}

export const useCards = (): CardRegistry => useContext(CardContext)

export const cardOf = (cards: CardRegistry, name: string): CardEntry | undefined =>
  Object.hasOwn(cards, name)
    ? cards[name]
    : Object.values(cards).find(({ names = [] }) => names.includes(name))

/** Brings a payload up to the version that the card draws, one step at a time. */
export function upcast({ version, upcasters = {} }: CardEntry, output: Json): Json {
  const met = new Set<string>()
  let payload = output
  while (true) {
    const at = versionOf(payload)
    if (at === version || met.has(at) || !Object.hasOwn(upcasters, at)) return payload
    met.add(at)
    payload = upcasters[at]?.(payload) ?? payload
  }
}

function versionOf(output: Json): string {
  const version = isJsonObject(output) ? output['version'] : undefined
  return typeof version === 'string' || typeof version === 'number' ? String(version) : '0'
}
