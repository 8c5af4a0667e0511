import { createContext, type ReactNode, useContext, useState } from 'react'

type PersistentUiState = Map<string, unknown>

const PersistentUiStateContext = createContext<PersistentUiState | null>(null)

/**
 * Holds the UI state below it (what is expanded or half typed). A virtual list unmounts a row that is scrolled far
 * away; without this its rows would come back collapsed and empty.
 */
export function PersistentUiStateProvider(props: { readonly children: ReactNode }): ReactNode {
  const [state] = useState<PersistentUiState>(() => new Map())
  return (
    <PersistentUiStateContext.Provider value={state}>
      {props.children}
    </PersistentUiStateContext.Provider>
  )
}

/** `useState` whose value survives an unmount under its key. Without a provider it is plain `useState`. */
export function usePersistentUiState<Value>(
  key: string,
  initial: Value,
): readonly [Value, (value: Value) => void] {
  const state = useContext(PersistentUiStateContext)
  const [value, setValue] = useState<Value>(() =>
    state?.has(key) === true ? (state.get(key) as Value) : initial,
  )
  const change = (next: Value) => {
    state?.set(key, next)
    setValue(next)
  }
  return [value, change]
}
