import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Browser } from 'playwright-core'
import { hasBrowser, openBrowser } from '../support/browser.ts'
import { tabTo } from './tab-to.ts'

// npm has a browser for Linux on x64 alone; elsewhere CHROMIUM names one: see `hasBrowser`.
describe.skipIf(!hasBrowser)('tabTo', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser.close())

  it('goes on when what had the focus is removed, or when it is what is around', async () => {
    const page = await browser.newPage()
    await page.setContent(`
      <button onfocus="this.remove()">Latest</button>
      <div tabindex="0"><p>Accept, or not?</p><button>Reject</button><button id="it">Accept</button></div>`)
    await tabTo(page, 'Accept', 'Tab')
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('it')
    await expect(tabTo(page, 'Nothing', 'Tab')).rejects.toThrow('No Tab leads to “Nothing”.')
  })
})
