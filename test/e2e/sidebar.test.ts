import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { openChat } from './chat-page.ts'
import { startApp } from './start-app.ts'
import { chooseAction } from './thread-menu.ts'

// npm has a browser for Linux on x64 alone; elsewhere CHROMIUM names one: see `hasBrowser`.
describe.skipIf(!hasBrowser)('the list of threads', () => {
  const app = startApp({ delayMs: 0 })

  it('renames, searches, and deletes with a way back', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    const links = page.locator('.app-thread a')
    await chat.sendMessage('Stock ACME')
    await chat.ended()
    await page.keyboard.press('Control+k')
    await chat.sendMessage('AFL code for a moving average')
    await chat.ended()
    await expect.poll(() => links.count()).toBe(2)

    await chooseAction(page, 'Stock ACME', 'Rename')
    await page.getByRole('textbox', { name: 'New name' }).fill('My shares')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'My shares' }).waitFor()

    await page.getByRole('searchbox').fill('shares')
    await expect.poll(() => links.allTextContents()).toEqual(['My shares'])
    await chooseAction(page, 'My shares', 'Delete')
    await page.getByText('Nothing found.').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('link', { name: 'My shares' }).waitFor()
    await page.reload()
    await page.getByRole('link', { name: 'My shares' }).waitFor()
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('deletes for good when nobody takes it back, and when the page is left meanwhile', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    const titles = async () => {
      const response = await fetch(`${app.server.url}/api/threads`)
      const { results } = (await response.json()) as {
        readonly results: readonly { title: string }[]
      }
      return results.map(({ title }) => title)
    }
    for (const text of ['Stock GONE', 'Stock LEFT']) {
      await page.keyboard.press('Control+k')
      await page.locator('.app-empty').waitFor()
      await chat.sendMessage(text)
      await chat.ended()
    }
    const remove = async (title: string) => {
      await chooseAction(page, title, 'Delete')
      await page.getByRole('button', { name: 'Undo' }).waitFor()
    }
    await remove('Stock GONE')
    expect(await titles()).toContain('Stock GONE')
    await expect.poll(titles).not.toContain('Stock GONE')
    await remove('Stock LEFT')
    await page.goto('about:blank')
    await expect.poll(titles).not.toContain('Stock LEFT')
    await chat.close()
  })
})
