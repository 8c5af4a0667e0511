import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { openChat } from './chat-page.ts'
import { startApp } from './start-app.ts'

// npm has a browser for Linux on x64 alone; elsewhere CHROMIUM names one: see `hasBrowser`.
describe.skipIf(!hasBrowser)('choosing a model', () => {
  const app = startApp({ delayMs: 0 })

  it('[AG2a] by keyboard: sent with the message, said at the answer, remembered for the thread alone', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    const picker = page.getByRole('combobox', { name: 'Model' })
    const made = page.locator('.hf-turn-model')
    await picker.waitFor()
    expect(await picker.inputValue()).toBe('demo')
    await chat.sendMessage('Hello there')
    await chat.ended()
    await expect.poll(() => made.allTextContents()).toEqual(['Demo'])

    await picker.focus()
    await page.keyboard.press('ArrowDown')
    expect(await picker.inputValue()).toBe('demo-terse')
    await chat.sendMessage('Hello again')
    await chat.ended(2)
    await expect.poll(() => made.allTextContents()).toEqual(['Demo', 'Demo, terse'])
    await page.reload()
    await expect.poll(() => made.allTextContents()).toEqual(['Demo', 'Demo, terse'])
    expect(await picker.inputValue()).toBe('demo-terse')

    // What is picked and not sent yet outlives a reload, and is what an answer is made anew with.
    await picker.selectOption('demo')
    await page.reload()
    await chat.ended(2)
    await expect.poll(() => picker.inputValue()).toBe('demo')
    await page.getByRole('button', { name: 'Regenerate' }).click()
    await expect.poll(() => made.allTextContents()).toEqual(['Demo', 'Demo'])

    await picker.selectOption('demo-terse')
    await page.keyboard.press('Control+k')
    await page.locator('.app-empty').waitFor()
    await expect.poll(() => picker.inputValue()).toBe('demo')
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })
})
