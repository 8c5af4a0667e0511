import { createContext, type ReactNode, useContext, useMemo } from 'react'
import { englishStrings } from './english-strings.ts'
import type { Strings } from './strings.ts'

const StringsContext = createContext<Strings>(englishStrings)

/**
 * Replaces some or all of the strings of the widgets below. Omitted ones stay as in the surrounding provider, or
 * English.
 * @example
 * <StringsProvider strings={{ send: 'Envoyer', used: (count) => `${count} outils` }}>
 */
export function StringsProvider(props: {
  readonly strings: Partial<Strings>
  readonly children: ReactNode
}): ReactNode {
  const outer = useContext(StringsContext)
  const strings = useMemo(() => ({ ...outer, ...props.strings }), [outer, props.strings])
  return <StringsContext.Provider value={strings}>{props.children}</StringsContext.Provider>
}

/** The current strings, for a custom widget. */
export const useStrings = (): Strings => useContext(StringsContext)
