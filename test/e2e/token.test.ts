import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { chatIn } from './chat-page.ts'
import { startApp } from './start-app.ts'

const token = 'a-long-and-secret-token'

// npm has a browser for Linux on x64 alone; elsewhere CHROMIUM names one: see `hasBrowser`.
describe.skipIf(!hasBrowser)('a server that wants a token', () => {
  const app = startApp({ delayMs: 0, env: { HOLDFAST_TOKEN: token } })

  const openForm = async (): Promise<Page> => {
    const context = await app.browser.newContext({ reducedMotion: 'reduce' })
    context.setDefaultTimeout(15_000)
    const page = await context.newPage()
    await page.goto(app.server.url)
    await page.getByRole('heading', { name: 'This server wants a token' }).waitFor()
    return page
  }
  const enter = async (page: Page, text: string) => {
    await page.getByLabel('The value of HOLDFAST_TOKEN').fill(text)
    await page.keyboard.press('Enter')
  }

  it('is asked for it, says that a wrong one is wrong, and takes the right one', async () => {
    const page = await openForm()
    expect(await page.locator('.hf-thread').count()).toBe(0)
    const field = page.getByLabel('The value of HOLDFAST_TOKEN')
    await field.and(page.locator(':focus')).waitFor()
    await enter(page, 'a-wrong-token')
    await page.getByRole('alert').getByText('The server does not take this token.').waitFor()
    expect(await page.locator('.hf-thread').count()).toBe(0)
    await enter(page, token)
    await page.locator('.app-empty').waitFor()

    // It is kept for this tab, and goes with every request: sending, following, reloading.
    const chat = await chatIn(page, app.server.url)
    await chat.sendMessage('Stock ACME')
    await chat.ended()
    await page.reload()
    await chat.ended()
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('is not given away by a tab to the next one', async () => {
    const page = await openForm()
    await enter(page, token)
    await page.locator('.app-empty').waitFor()
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain(token)
    const other = await page.context().newPage()
    await other.goto(app.server.url)
    await other.getByRole('heading', { name: 'This server wants a token' }).waitFor()
    await page.context().close()
  })
})
