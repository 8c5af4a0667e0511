/**
 * Keeps what a reader opens or closes where it is on the screen (UX5). A list at its end follows whatever grows in it:
 * what somebody has just opened would be moved away from under the pointer. The place is held until the reader scrolls,
 * or uses something else in the list.
 */
export interface HeldPlace {
  /** Holds the place of what is opened in the list, until the returned function is called. */
  watch(list: HTMLElement): () => void
  /** After the list was measured anew and moved, and before it is painted. */
  restore(list: HTMLElement): void
  letGo(): void
}

export function createHeldPlace(): HeldPlace {
  /** `top`: its distance from the top of the window. */
  let held: { readonly element: Element; readonly top: number } | null = null
  const letGo = () => {
    held = null
  }
  const hold = ({ target }: Event) => {
    const element = target instanceof Element ? toHeldElement(target) : null
    held = element === null ? null : { element, top: topOf(element) }
  }
  return {
    watch(list) {
      const listening = new AbortController()
      const options = { capture: true, passive: true, signal: listening.signal }
      for (const type of ['pointerdown', 'keydown', 'wheel', 'touchmove']) {
        list.addEventListener(type, letGo, options)
      }
      // A press, or a key, comes before the click that it ends in.
      list.addEventListener('click', hold, options)
      return () => listening.abort()
    },
    restore(list) {
      if (held === null || !held.element.isConnected) return
      const top = topOf(held.element) - held.top
      if (Math.abs(top) >= 1) list.scrollBy({ top, behavior: 'instant' })
    },
    letGo,
  }
}

const topOf = (element: Element): number => element.getBoundingClientRect().top

/** What opens or closes something: it stays, and with a long text that is opened from its end, the beginning does. */
function toHeldElement(target: Element): Element | null {
  const control = target.closest('summary, [aria-expanded], .hf-widget-line button')
  const isOpenedFromEnd =
    control?.matches('.hf-more') === true && control.getAttribute('aria-expanded') === 'false'
  return isOpenedFromEnd ? control.closest('.hf-bubble') : control
}
