import { useEffect } from 'react'
import { goTo } from './place.ts'

/** ⌘K or Ctrl+K: a new chat. `/`, outside of a field: search. */
export function useShortcuts(openSidebar: () => void): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() === 'k' && (event.metaKey || event.ctrlKey)) {
        event.preventDefault()
        goTo('/')
      }
      if (event.key === '/' && !isTyping(event.target)) {
        event.preventDefault()
        openSidebar()
        document.querySelector<HTMLInputElement>('#thread-search')?.focus()
      }
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [openSidebar])
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]')
