import { type ComponentType, createContext, type ReactNode, useContext } from 'react'
import type { Call } from '../../core/call.ts'
import { isJsonObject, type Json } from '../../core/json.ts'

/** What a card is drawn from: the same props live, after navigation and after a reload (CD1). */
export interface CardProps {
  /** The call in whatever state it is. */
  readonly call: Call
  /** Its arguments. While they are being written, as much of them as is certain: a value only grows, nothing in it is taken back. */
  readonly input: Json
  /**
   * The arguments are not whole: they are being written, or were broken off, which `call.state` says (`streaming` or how it ended).
   * Only an entry with `drawsInput` is drawn before they are (FK6).
   */
  readonly isPartial: boolean
  /**
   * Its result, or the preliminary one, brought up to `version` by the upcasters. Null where there is none yet, which only an
   * entry with `drawsInput` meets.
   */
  readonly output: Json
}

/** How the calls of a tool are drawn. */
export interface CardEntry {
  /**
   * Drawn when the call has succeeded, or runs and has a preliminary result; with `drawsInput` from the first piece of its
   * arguments on. If it throws, the data is shown (CD2).
   */
  readonly component: ComponentType<CardProps>
  /**
   * The component draws the arguments, such as a document or a chart that grows as it is written: it is drawn while they come,
   * with `isPartial`, while the call runs, and, where it came to nothing, above the reason (FK6).
   *
   * @default false
   */
  readonly drawsInput?: boolean
  /**
   * Further names that the tool has or had, such as those in old threads. A tool that has an entry under
   * its own name is drawn with that one.
   *
   * @default []
   */
  readonly names?: readonly string[]
  /**
   * The version of the payload that the component draws; a payload says its own in `version`.
   *
   * @default any
   */
  readonly version?: string
  /**
   * From an old version to the next one (CD4). A payload that says none has version `0`.
   *
   * @default {}
   */
  readonly upcasters?: Readonly<Record<string, (output: Json) => Json>>
}

/**
 * Cards by the name of their tool; an entry may have further names. A tool without one gets the generic
 * card.
 */
export type CardRegistry = Readonly<Record<string, CardEntry>>

const CardContext = createContext<CardRegistry>({})

/** Gives the widgets below it the cards of the host's tools. An inner provider replaces an outer one as a whole. */
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
