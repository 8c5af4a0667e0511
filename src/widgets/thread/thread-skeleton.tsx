import type { ReactNode } from 'react'
import { useTexts } from '../texts-context.tsx'

/** Appears only when loading takes long enough to be noticed. */
export function ThreadSkeleton(): ReactNode {
  const texts = useTexts()
  return (
    <div className="hf-loading" aria-busy="true">
      <span className="hf-visually-hidden">{texts.loading}</span>
      <span className="hf-skeleton hf-skeleton-user" />
      <span className="hf-skeleton" />
      <span className="hf-skeleton" />
      <span className="hf-skeleton hf-skeleton-short" />
    </div>
  )
}
