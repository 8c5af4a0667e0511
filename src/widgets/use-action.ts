import { useState } from 'react'

interface UsedAction {
  readonly isBusy: boolean
  readonly error: string | null
  readonly run: (work: () => Promise<void>) => void
}

/**
 * Runs a user's actions, one at a time, and holds the error message of a failure. While it is busy the button is `aria-disabled`,
 * not `disabled`: a disabled button loses the focus.
 *
 * `state`: what the actions change. Once it has changed, the action has had its effect, though its response may still be
 * in flight; a press that was dropped then would be lost on a person who sees the effect.
 */
export function useAction(state?: unknown): UsedAction {
  const [busy, setBusy] = useState<{ readonly state: unknown } | null>(null)
  const [error, setError] = useState<string | null>(null)
  const isBusy = busy !== null && busy.state === state
  const run = (work: () => Promise<void>) => {
    if (isBusy) return
    const own = { state }
    setBusy(own)
    setError(null)
    work()
      .catch((thrown: unknown) =>
        setError(thrown instanceof Error ? thrown.message : String(thrown)),
      )
      .finally(() => setBusy((current) => (current === own ? null : current)))
  }
  return { isBusy, error, run }
}
