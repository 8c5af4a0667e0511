/**
 * Runs in the page and looks at every frame: for how long was there nothing of the thread to read in the
 * middle of the screen?
 */
export function watchFrames(): void {
  const framesSeen = { longestBlankMs: 0, frames: 0 }
  Object.assign(globalThis, { framesSeen })
  let blankSince: number | null = null
  const measureFrame = (now: number) => {
    framesSeen.frames++
    const scroll = document.querySelector('.hf-scroll')?.getBoundingClientRect()
    const isBlank =
      scroll !== undefined &&
      ![...document.querySelectorAll('.hf-row')].some((row) => {
        const { top, bottom } = row.getBoundingClientRect()
        return bottom > scroll.top && top < scroll.bottom
      })
    if (!isBlank) blankSince = null
    else blankSince ??= now
    if (blankSince !== null) {
      framesSeen.longestBlankMs = Math.max(framesSeen.longestBlankMs, now - blankSince)
    }
    requestAnimationFrame(measureFrame)
  }
  requestAnimationFrame(measureFrame)
}
