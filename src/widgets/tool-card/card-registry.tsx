import { type ComponentType, createContext, type ReactNode, useContext } from 'react'
import type { Call } from '../../core/call.ts'
import { isJsonObject, type Json } from '../../core/json.ts'

/** The props of a card: the same live, after navigation and after a reload (CD1). */
export interface CardProps {
  /** The call in whatever state it is. */
  readonly call: Call
  /**
   * Its arguments. While they stream, the part that is certain: a value only grows, and nothing in it is removed again.
   */
  readonly input: Json
  /**
   * Whether the arguments are incomplete: they are streaming, or were broken off; `call.state` tells which (`streaming`
   * or an end state). Only an entry with `drawsInput` is rendered before they are complete (FK6).
   */
  readonly isPartial: boolean
  /**
   * Its result, or the preliminary one, converted to `version` by the upcasters. Null where there is none yet, which
   * only an entry with `drawsInput` gets.
   */
  readonly output: Json
}

/** How the calls of a tool are rendered. */
export interface CardEntry {
  /**
   * Rendered when the call has succeeded, or runs and has a preliminary result; with `drawsInput` from the first piece
   * of its arguments on. If it throws, the data is shown (CD2).
   */
  readonly component: ComponentType<CardProps>
  /**
   * Whether the component renders the arguments, such as a document or a chart that grows as it is written: it is then
   * rendered while they stream, with `isPartial`, while the call runs, and, if the call did not succeed, above the
   * error (FK6).
   * @default false
   */
  readonly drawsInput?: boolean
  /**
   * Further names that the tool has or had, such as those in old threads. A tool with an entry under its own name uses
   * that one.
   * @default []
   */
  readonly names?: readonly string[]
  /**
   * The payload version that the component renders; a payload has its own in `version`.
   * @default any
   */
  readonly version?: string
  /**
   * Converts an old version to the next one (CD4). A payload without a version has version `0`.
   * @default {}
   */
  readonly upcasters?: Readonly<Record<string, (output: Json) => Json>>
}

/** Cards by tool name; an entry may have further names. A tool without an entry gets the generic card. */
export type CardRegistry = Readonly<Record<string, CardEntry>>

const CardContext = createContext<CardRegistry>({})

/**
 * Provides the cards of the host application's tools to the widgets below. An inner provider replaces an outer one
 * entirely.
 */
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

/** Converts a payload to the version that the card renders, one version at a time. */
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
