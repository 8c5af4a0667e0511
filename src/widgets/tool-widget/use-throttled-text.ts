import { useEffect, useRef, useState } from 'react'

/**
 * The newest text, changed no more often than a listener can follow. Without this a screen reader that receives every
 * percent would speak without end.
 */
export function useThrottledText(text: string, everyMs: number): string {
  const [shown, setShown] = useState(text)
  const changedAt = useRef(Number.NEGATIVE_INFINITY)
  useEffect(() => {
    if (text === shown) return undefined
    const waitMs = Math.max(0, changedAt.current + everyMs - Date.now())
    const timer = setTimeout(() => {
      changedAt.current = Date.now()
      setShown(text)
    }, waitMs)
    return () => clearTimeout(timer)
  }, [text, shown, everyMs])
  return shown
}
