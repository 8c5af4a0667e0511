import { useEffect, useRef, useState } from 'react'

/**
 * The newest words, changed no more often than a listener can follow. Without it a screen reader that is told every percent
 * speaks without end.
 */
export function useCalmWords(words: string, everyMs: number): string {
  const [calm, setCalm] = useState(words)
  const changedAt = useRef(Number.NEGATIVE_INFINITY)
  useEffect(() => {
    if (words === calm) return undefined
    const waitMs = Math.max(0, changedAt.current + everyMs - Date.now())
    const timer = setTimeout(() => {
      changedAt.current = Date.now()
      setCalm(words)
    }, waitMs)
    return () => clearTimeout(timer)
  }, [words, calm, everyMs])
  return calm
}
