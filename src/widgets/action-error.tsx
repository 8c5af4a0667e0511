import type { ReactNode } from 'react'

/** Why an action failed, beside what started it. */
export function ActionError({ error }: { readonly error: string | null }): ReactNode {
  if (error === null) return null
  return (
    <p className="hf-call-error" role="alert">
      {error}
    </p>
  )
}
