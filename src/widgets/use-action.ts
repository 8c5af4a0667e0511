import { useState } from 'react'

interface UsedAction {
  readonly isBusy: boolean
  readonly error: string | null
  readonly run: (work: () => Promise<void>) => void
}

/** Runs what a person starts, one at a time, and has the message of a failure to be shown beside it. */
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
