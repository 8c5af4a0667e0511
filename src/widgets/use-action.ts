import { useState } from 'react'

interface UsedAction {
  readonly isBusy: boolean
  readonly error: string | null
  readonly run: (work: () => Promise<void>) => void
}

/** Something that a person set off: one at a time, and a failure is said where it was asked for. */
export function useAction(): UsedAction {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<string | null>(null)
  const run = (work: () => Promise<void>) => {
    if (isBusy) return
    setBusy(true)
    setError(null)
    work()
      .catch((thrown: unknown) =>
        setError(thrown instanceof Error ? thrown.message : String(thrown)),
      )
      .finally(() => setBusy(false))
  }
  return { isBusy, error, run }
}
