import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { openChat } from './chat-page.ts'
import { startApp } from './start-app.ts'

// npm has a browser for Linux on x64 alone; elsewhere CHROMIUM names one: see `hasBrowser`.
describe.skipIf(!hasBrowser)('the settings', () => {
  const app = startApp({ delayMs: 0 })

  it('show the tools of the server, which of them ask first, and what it runs on', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    await page.getByRole('button', { name: 'Settings' }).click()
    const dialog = page.getByRole('dialog', { name: 'Settings' })
    await dialog.getByText(/^Holdfast \d+\.\d+\.\d+, on sqlite\./).waitFor()
    const response = await fetch(`${app.server.url}/api/tools`)
    const { results } = (await response.json()) as { readonly results: readonly { name: string }[] }
    const lines = dialog.getByRole('listitem')
    expect(await lines.locator('code').allTextContents()).toEqual(results.map(({ name }) => name))
    const asking = await lines.filter({ hasText: 'Asks first' }).locator('code').allTextContents()
    expect(asking).toEqual(['delete_note'])
    await page.keyboard.press('Escape')
    expect(await dialog.count()).toBe(0)
    await page.route('**/api/tools', (route) => route.abort())
    await page.getByRole('button', { name: 'Settings' }).click()
    await dialog.getByRole('alert').getByText('The server cannot be reached.').waitFor()
    await chat.close()
  })

  it('choose the colours, and keep them through a reload', async () => {
    const chat = await openChat(app.browser, app.server.url, { colorScheme: 'light' })
    const { page } = chat
    const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    expect(await back()).toBe('rgb(255, 255, 255)')
    await page.getByRole('button', { name: 'Settings' }).click()
    await page.getByLabel('Theme').selectOption('Dark')
    expect(await back()).toBe('rgb(23, 23, 26)')
    await page.reload()
    await chat.composer.waitFor()
    expect(await back()).toBe('rgb(23, 23, 26)')
    await page.getByRole('button', { name: 'Settings' }).click()
    await page.getByLabel('Theme').selectOption('Like the device')
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await back()).toBe('rgb(23, 23, 26)')
    await page.emulateMedia({ colorScheme: 'light' })
    expect(await back()).toBe('rgb(255, 255, 255)')
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })
})
