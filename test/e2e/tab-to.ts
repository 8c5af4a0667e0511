import type { Page } from 'playwright-core'

/** Presses a key until the focus is on what is called so; what cannot be reached so is not accessible. */
export async function tabTo(page: Page, name: string, key: 'Tab' | 'Shift+Tab'): Promise<void> {
  for (let presses = 0; presses < 40; presses++) {
    await page.keyboard.press(key)
    const label = await page.evaluate(() => {
      const focused = document.activeElement
      // The body has the focus when what had it was removed (a “Latest” that is no longer needed), and
      // the text of everything: it, and whatever else has controls in it, is not called by their names.
      if (focused === null || focused.querySelector('a, button, input, textarea, summary'))
        return ''
      const labels = focused instanceof HTMLInputElement ? [...(focused.labels ?? [])] : []
      const words = [focused, ...labels].map((each) => each.textContent ?? '')
      return [focused.getAttribute('aria-label') ?? '', ...words].join(' ')
    })
    if (label.includes(name)) return
  }
  throw new Error(`No ${key} leads to “${name}”.`)
}
