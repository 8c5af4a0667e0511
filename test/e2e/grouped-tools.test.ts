import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { openChat } from './chat-page.ts'
import { startApp } from './start-app.ts'
import { tabTo } from './tab-to.ts'

// npm has a browser for Linux on x64 alone; elsewhere CHROMIUM names one: see `hasBrowser`.
describe.skipIf(!hasBrowser)('the tools of a long turn, in a browser', () => {
  const app = startApp({ delayMs: 0 })

  it('[CO7] are one line with what failed below it, opened by keyboard, the same after a reload', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    await chat.sendMessage('Call 12 tools, one fails')
    await chat.ended()
    await chat.widget.click()
    const line = page.getByRole('button', { name: /^12 tools: 11 done, 1 failed/ })
    const states = () =>
      page
        .locator('.hf-call')
        .evaluateAll((all) => all.map((row) => row.getAttribute('data-call-state')))
    await line.waitFor()
    expect(await states()).toEqual(['failed'])

    await tabTo(page, '12 tools: 11 done', 'Tab')
    await page.keyboard.press('Enter')
    expect(await line.getAttribute('aria-expanded')).toBe('true')
    const opened = await states()
    expect(opened).toHaveLength(12)
    expect(opened[2]).toBe('failed')
    await page.keyboard.press('Space')
    expect(await states()).toEqual(['failed'])

    await page.reload()
    await chat.ended()
    await chat.widget.click()
    await line.waitFor()
    expect(await states()).toEqual(['failed'])
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('[CO7] are opened while it works, and stay so as more of it comes and ends', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    await chat.sendMessage('Call 8 tools and wait 600')
    await chat.widget.click()
    const line = page.locator('.hf-call-group button')
    await line.getByText('8 tools: 8 done').waitFor()
    // What runs is never hidden.
    const running = page.locator('.hf-call[data-call-state=running]')
    await running.locator('.hf-progress-words').waitFor()
    expect(await page.locator('.hf-call').count()).toBe(1)
    await line.click()
    expect(await page.locator('.hf-call').count()).toBe(9)
    await running.getByText('2 of 600').waitFor()
    expect(await line.getAttribute('aria-expanded')).toBe('true')

    await page.getByRole('button', { name: 'Stop' }).click()
    await line.getByText('9 tools: 8 done, 1 stopped').waitFor()
    expect(await line.getAttribute('aria-expanded')).toBe('true')
    expect(await page.locator('.hf-call').count()).toBe(9)
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('[CO7] [CO4] do not fold away what somebody reads', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    // Five that ended stand apart; the sixth would make them a group.
    await chat.sendMessage('Call 5 tools and wait 600')
    await chat.widget.click()
    const first = page.locator('.hf-call').first()
    await page.locator('.hf-call[data-call-state=succeeded]').nth(4).waitFor()
    await first.getByText('Result').click()
    const result = first.locator('.hf-json', { hasText: 'square' })
    await result.waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByRole('button', { name: /^6 tools: 5 done, 1 stopped/ }).waitFor()
    expect(await result.isVisible()).toBe(true)
    expect(await page.locator('.hf-call').count()).toBe(6)
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })
})
