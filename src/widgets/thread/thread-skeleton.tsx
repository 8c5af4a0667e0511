import type { ReactNode } from 'react'
import { useStrings } from '../strings-context.tsx'

/** Appears only when loading takes long enough to be noticed. */
export function ThreadSkeleton(): ReactNode {
  const strings = useStrings()
  return (
    <div className="hf-loading" aria-busy="true">
      <span className="hf-visually-hidden">{strings.loading}</span>
      <span className="hf-skeleton hf-skeleton-user" />
      <span className="hf-skeleton" />
      <span className="hf-skeleton" />
      <span className="hf-skeleton hf-skeleton-short" />
    </div>
  )
}
