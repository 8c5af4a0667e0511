import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react'

interface HeldPlace {
  readonly element: Element
  /** Its distance from the top of the window. */
  readonly top: number
}

/**
 * Keeps what a reader opens or closes where it is on the screen. A list at its end follows whatever grows in it: what
 * somebody has just opened would be moved away from under the pointer. The place is held until the reader scrolls, or
 * uses something else in the list. Returns a function that lets go of it.
 */
export function useHeldPlace(scroller: RefObject<HTMLElement | null>, size: number): () => void {
  const held = useRef<HeldPlace | null>(null)
  useEffect(() => {
    const list = scroller.current
    if (list === null) return undefined
    const letGo = () => void (held.current = null)
    const hold = ({ target }: Event) => {
      const element = target instanceof Element ? toHeldElement(target) : null
      held.current = element === null ? null : { element, top: topOf(element) }
    }
    const listening = new AbortController()
    const options = { capture: true, passive: true, signal: listening.signal }
    for (const type of ['pointerdown', 'keydown', 'wheel', 'touchmove']) {
      list.addEventListener(type, letGo, options)
    }
    // After the others: a click is what a press, or a key, ends in.
    list.addEventListener('click', hold, options)
    return () => listening.abort()
  }, [scroller])

  // Before it is painted: the list has just been measured anew, and has moved.
  useLayoutEffect(() => {
    const list = scroller.current
    const place = held.current
    if (list === null || place === null || !place.element.isConnected) return
    const moved = topOf(place.element) - place.top
    if (Math.abs(moved) >= 1) list.scrollTop += moved
  }, [scroller, size])

  return () => void (held.current = null)
}

const topOf = (element: Element): number => element.getBoundingClientRect().top

/** What opens or closes something: it stays, and with a long text that is opened from its end, the beginning does. */
function toHeldElement(target: Element): Element | null {
  const control = target.closest('summary, [aria-expanded], .hf-widget-line button')
  const isOpenedFromEnd =
    control?.matches('.hf-more') === true && control.getAttribute('aria-expanded') === 'false'
  return isOpenedFromEnd ? control.closest('.hf-bubble') : control
}
