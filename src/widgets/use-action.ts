import { useState } from 'react'

interface UsedAction {
  readonly isBusy: boolean
  readonly error: string | null
  readonly run: (work: () => Promise<void>) => void
}

/**
 * Runs a user's actions, one at a time, and holds the error message of a failure. While it is busy the button is `aria-disabled`,
 * not `disabled`: a disabled button loses the focus.
 */
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
