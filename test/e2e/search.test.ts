import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { openChat } from './chat-page.ts'
import { startApp } from './start-app.ts'

// npm has a browser for Linux on x64 alone; elsewhere CHROMIUM names one: see `hasBrowser`.
describe.skipIf(!hasBrowser)('search', () => {
  const app = startApp({ delayMs: 0 })

  it('[FK1] finds words in any conversation and leads to the message', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    await chat.sendMessage('Stock ACME')
    await chat.ended()
    await page.keyboard.press('Control+k')
    await page.locator('.app-empty').waitFor()
    await chat.sendMessage('I like rhubarb pie')
    await chat.ended()
    await page.keyboard.press('Control+k')
    await page.locator('.app-empty').waitFor()

    await page.getByRole('searchbox').fill('PIE rhub')
    const found = page.locator('.app-found a')
    await expect.poll(() => found.locator('mark').allTextContents()).toContain('rhubarb')
    await found.filter({ hasText: 'I like rhubarb pie' }).first().focus()
    await page.keyboard.press('Enter')
    await page.locator('.hf-user-text', { hasText: 'I like rhubarb pie' }).waitFor()
    expect(new URL(page.url()).hash).not.toBe('')

    await page.getByRole('searchbox').fill('nothing has this word zzz')
    await page.getByText('No message found.').waitFor()
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })
})
