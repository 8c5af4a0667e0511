import { createContext, type ReactNode, useContext, useMemo } from 'react'
import { englishTexts } from './english-texts.ts'
import type { Texts } from './texts.ts'

const TextsContext = createContext<Texts>(englishTexts)

/** Replaces some or all of the words of the widgets below. */
export function TextsProvider(props: {
  readonly texts: Partial<Texts>
  readonly children: ReactNode
}): ReactNode {
  const outer = useContext(TextsContext)
  const texts = useMemo(() => ({ ...outer, ...props.texts }), [outer, props.texts])
  return <TextsContext.Provider value={texts}>{props.children}</TextsContext.Provider>
}

export const useTexts = (): Texts => useContext(TextsContext)
