import { createContext, type ReactNode, useContext, useState } from 'react'

/** What was opened or half typed outlives its row, which goes when it is scrolled far away. */
const KeptContext = createContext<Map<string, unknown> | null>(null)

export function KeptStateProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const [kept] = useState(() => new Map<string, unknown>())
  return <KeptContext.Provider value={kept}>{children}</KeptContext.Provider>
}

/** `useState` whose value is found again under its key; without a provider, just that. */
export function useKeptState<Value>(
  key: string,
  initial: Value,
): readonly [Value, (value: Value) => void] {
  const kept = useContext(KeptContext)
  const [value, setValue] = useState<Value>(() =>
    kept?.has(key) === true ? (kept.get(key) as Value) : initial,
  )
  const change = (next: Value) => {
    kept?.set(key, next)
    setValue(next)
  }
  return [value, change]
}
