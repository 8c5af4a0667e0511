import { type RefObject, useEffect } from 'react'

const focusable = 'a[href], button:not(:disabled), input, select, textarea, summary, [tabindex]'

/** What had the focus, with what it stood in from the inside out: each an element and its place among its siblings. */
interface FocusTrail {
  readonly focused: Element
  readonly around: readonly { readonly parent: Element; readonly place: number }[]
}

/**
 * Whoever uses the keyboard does not start again at the top of the page because what they pressed is gone: a message that was
 * withdrawn, a form that was sent, a button that no longer applies. The focus goes to what took its place, else to what follows.
 *
 * It goes to a group before the buttons in it (`tabIndex={-1}`), so that a key that is held down does not press the same button
 * of the next one: two approvals would be given with one stroke.
 */
export function useRestoredFocus(root: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const element = root.current
    if (element === null) return undefined
    let trail: FocusTrail | undefined
    // At the last moment, since what is around it may have changed. A pointer presses no key, and needs no focus to go on from;
    // a finger wants no keyboard to come up.
    const onKeyDown = ({ target }: KeyboardEvent) => {
      if (target instanceof Element) trail = trailOf(target, element)
    }
    const onFocusOut = ({ target }: FocusEvent) => {
      // What is being removed is still in the page while this event is dispatched; what is still there afterwards was left.
      queueMicrotask(() => {
        if (trail?.focused === target && canHold(trail.focused)) trail = undefined
      })
    }
    const observer = new MutationObserver(() => {
      if (trail === undefined || document.activeElement !== document.body) return
      if (canHold(trail.focused)) return
      const heir = heirOf(trail)
      if (heir === undefined) return
      // It may go in its turn, as the last of several approvals does that were decided at once.
      trail = trailOf(heir, element)
      heir.focus()
    })
    element.addEventListener('keydown', onKeyDown, { capture: true })
    element.addEventListener('focusout', onFocusOut)
    observer.observe(element, { childList: true, subtree: true })
    return () => {
      element.removeEventListener('keydown', onKeyDown, { capture: true })
      element.removeEventListener('focusout', onFocusOut)
      observer.disconnect()
    }
  }, [root])
}

const canHold = (element: Element): boolean => element.isConnected && !element.matches(':disabled')

function trailOf(focused: Element, root: Element): FocusTrail {
  const around: { parent: Element; place: number }[] = []
  for (let child = focused; child !== root;) {
    const parent = child.parentElement
    if (parent === null) break
    around.push({ parent, place: [...parent.children].indexOf(child) })
    child = parent
  }
  return { focused, around }
}

/** The first thing at or after the place of what was lost; at the innermost level that is left also before it. */
function heirOf({ around }: FocusTrail): HTMLElement | undefined {
  const left = around.filter(({ parent }) => parent.isConnected)
  for (const [level, { parent, place }] of left.entries()) {
    const children = [...parent.children]
    // What is around the innermost one is still there itself: it was searched already.
    const after = children.slice(level === 0 ? place : place + 1)
    const before = level === 0 ? children.slice(0, place).reverse() : []
    for (const child of [...after, ...before]) {
      const found = firstFocusable(child)
      if (found !== undefined) return found
    }
  }
  return undefined
}

function firstFocusable(element: Element): HTMLElement | undefined {
  const candidates = [element, ...element.querySelectorAll(focusable)]
  return candidates.find(
    (each): each is HTMLElement =>
      each instanceof HTMLElement && each.matches(focusable) && each.checkVisibility(),
  )
}
