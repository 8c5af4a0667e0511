import type { ReactNode } from 'react'

/** Where somebody asked for something that failed: why. */
export function ActionError({ error }: { readonly error: string | null }): ReactNode {
  if (error === null) return null
  return (
    <p className="hf-call-error" role="alert">
      {error}
    </p>
  )
}
