/** Less than this is the bar of a browser that comes and goes, not a keyboard. */
const leastPx = 120

/**
 * Keeps the composer above the keyboard of a phone that lays it over the page (Safari) instead of making the page smaller, which
 * is what the others do when `interactive-widget` asks for it.
 */
export function followKeyboard(): void {
  const { visualViewport: seen } = window
  const { documentElement: page } = document
  seen?.addEventListener('resize', () => {
    // Whoever zooms in sees less of the page too, and wants it to stay as it is.
    const isZoomed = Math.abs(seen.scale - 1) > 0.01
    const isCovered = !isZoomed && page.clientHeight - seen.height > leastPx
    if (isCovered) {
      page.style.setProperty('--app-height', `${seen.height}px`)
      // To show the field it has moved the page, which fits now.
      scrollTo(0, 0)
    } else {
      page.style.removeProperty('--app-height')
    }
  })
}
