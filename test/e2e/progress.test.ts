import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { openChat } from './chat-page.ts'
import { startApp } from './start-app.ts'

// npm has a browser for Linux on x64 alone; elsewhere CHROMIUM names one: see `hasBrowser`.
describe.skipIf(!hasBrowser)('the progress of a tool, in a browser', () => {
  const app = startApp({ delayMs: 0 })

  it('[CO6] stands in the closed widget with the time, goes on after a reload, and is heard now and then', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page, widget } = chat
    await chat.sendMessage('Slow tool 600')
    const words = widget.locator('.hf-progress-words')
    await words.getByText('Counting the seconds').waitFor()
    await words.getByText(/^\d+ of 600$/).waitFor()
    const changes = await page.evaluateHandle(() => {
      const seen = new Set<string>()
      const heard = new Set<string>()
      const recordWords = () => {
        seen.add(document.querySelector('.hf-progress-words')?.textContent ?? '')
        heard.add(
          document.querySelector('.hf-widget [aria-live].hf-visually-hidden')?.textContent ?? '',
        )
      }
      new MutationObserver(recordWords).observe(document, {
        subtree: true,
        childList: true,
        characterData: true,
      })
      return { counts: () => [seen.size, heard.size] as const }
    })
    const counts = () => changes.evaluate((both) => both.counts())
    await expect.poll(async () => (await counts())[0]).toBeGreaterThan(5)
    const [seen, heard] = await counts()
    expect(heard).toBeLessThan(seen)
    const far = Number(/(\d+) of/.exec(await words.innerText())?.[1])
    await widget
      .locator('.hf-progress-time')
      .getByText(/\d+ s$/)
      .waitFor()
    expect(await widget.getAttribute('aria-expanded')).toBe('false')

    await page.reload()
    await words.waitFor()
    expect(Number(/(\d+) of/.exec(await words.innerText())?.[1])).toBeGreaterThanOrEqual(far)
    await widget.click()
    await page.locator('.hf-call .hf-progress-words').getByText('Counting the seconds').waitFor()
    // What stands twice is heard once.
    expect(await page.locator('.hf-call [aria-live]', { hasText: 'Counting' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Stop' }).click()
    await chat.ended()
    expect(await page.locator('.hf-progress').count()).toBe(0)
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })
})
