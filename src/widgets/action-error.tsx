import type { ReactNode } from 'react'

/** The error of a failed action, next to the control that started it. */
export function ActionError({ error }: { readonly error: string | null }): ReactNode {
  if (error === null) return null
  return (
    <p className="hf-call-error" role="alert">
      {error}
    </p>
  )
}
