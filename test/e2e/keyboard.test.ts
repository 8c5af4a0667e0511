import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { openChat } from './chat-page.ts'
import { tabTo } from './tab-to.ts'
import { startApp } from './start-app.ts'

// npm has a browser for Linux on x64 alone; elsewhere CHROMIUM names one: see `hasBrowser`.
describe.skipIf(!hasBrowser)('a chat without a mouse', () => {
  const app = startApp({ delayMs: 0 })

  it('[CO4] [AP1] [ST1] sends, opens the widget, approves and stops', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    const { keyboard } = page
    await keyboard.type('Search my notes for coffee')
    await keyboard.press('Enter')
    await chat.ended()
    await tabTo(page, 'Used 3 tools', 'Shift+Tab')
    expect(await showsFocus(page)).toBe(true)
    await keyboard.press('Enter')
    await page.locator('.hf-call').nth(2).waitFor()
    await tabTo(page, 'Result', 'Tab')
    await keyboard.press('Enter')
    await page.locator('.hf-fold[open] .hf-json').first().waitFor()

    await tabTo(page, 'Message Holdfast…', 'Tab')
    await keyboard.type('Delete note Reading')
    await keyboard.press('Enter')
    await page.locator('.hf-approval').waitFor()
    await tabTo(page, 'Accept', 'Shift+Tab')
    expect(await showsFocus(page)).toBe(true)
    await keyboard.press('Enter')
    await chat.ended(2)
    await page.getByText('Accepted by you').first().waitFor()

    // What was asked is answered and gone: the focus is where one goes on.
    await chat.composer.and(page.locator(':focus')).waitFor()
    await keyboard.type('Slow tool 30')
    await keyboard.press('Enter')
    await page.locator('.hf-widget-text').getByText('Slow tool…').waitFor()
    await tabTo(page, 'Stop', 'Tab')
    expect(await showsFocus(page)).toBe(true)
    await keyboard.press('Enter')
    await page.locator('[data-ending=stopped]').waitFor()
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })
})

const showsFocus = (page: Page): Promise<boolean> =>
  page.evaluate(() => {
    const focused = document.activeElement
    return focused !== null && getComputedStyle(focused).outlineStyle !== 'none'
  })
