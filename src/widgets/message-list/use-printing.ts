import { useEffect, useState } from 'react'
import { flushSync } from 'react-dom'

/** A printed page cannot be scrolled: all loaded rows are rendered while the page is printed. */
export function usePrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false)
  useEffect(() => {
    const paper = window.matchMedia('print')
    // The browser captures the page as soon as this returns.
    const before = () => flushSync(() => setPrinting(true))
    const after = () => setPrinting(paper.matches)
    window.addEventListener('beforeprint', before)
    window.addEventListener('afterprint', after)
    // Previews and tests change the medium without those two events.
    paper.addEventListener('change', after)
    return () => {
      window.removeEventListener('beforeprint', before)
      window.removeEventListener('afterprint', after)
      paper.removeEventListener('change', after)
    }
  }, [])
  return isPrinting
}
