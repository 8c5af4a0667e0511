import { type RefObject, useLayoutEffect, useRef } from 'react'

/**
 * When a form is closed that had the focus, the focus returns to the button that opened it. Whoever has gone on to something
 * else meanwhile, such as to the composer while an edit was being stored, keeps the focus there.
 */
export function useReturnedFocus(
  isOpen: boolean,
  opener: RefObject<HTMLElement | null | undefined>,
): void {
  const wasOpen = useRef(isOpen)
  // Before `useRestoredFocus` sees the change, which would move the focus to what follows.
  useLayoutEffect(() => {
    if (wasOpen.current && !isOpen && document.activeElement === document.body) {
      opener.current?.focus()
    }
    wasOpen.current = isOpen
  }, [isOpen, opener])
}
