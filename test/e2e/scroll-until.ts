import type { Locator } from 'playwright-core'

/**
 * Scrolls until something is in the page, and returns how often. A list draws only what is near the screen, so that nothing
 * but scrolling brings it there.
 */
export async function scrollUntil(
  wanted: Locator,
  scroll: () => Promise<void>,
  deadlineMs = 60_000,
): Promise<number> {
  const deadline = performance.now() + deadlineMs
  let times = 0
  for (; (await wanted.count()) === 0; times++) {
    if (performance.now() > deadline) {
      throw new Error(
        `Scrolled ${times} times in ${deadlineMs} ms, and did not reach ${String(wanted)}`,
      )
    }
    await scroll()
  }
  return times
}
