import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { buildPage } from '../support/built-page.ts'
import { writeExchanges } from '../support/write-exchanges.ts'
import { openChat } from './chat-page.ts'
import { startApp } from './start-app.ts'

// npm has a browser for Linux on x64 alone; elsewhere CHROMIUM names one: see `hasBrowser`.
describe.skipIf(!hasBrowser)('a thread on paper', () => {
  const app = startApp({ delayMs: 0 })

  it('has all that is loaded, one below the other, and nothing to click on', async () => {
    await writeExchanges(app.server.url, 'paper', { from: 1, to: 14 })
    const chat = await openChat(app.browser, `${app.server.url}/t/paper`, { colorScheme: 'dark' })
    const { page } = chat
    await chat.sendMessage('Stock ACME')
    await page.locator('.card-stock').waitFor()
    expect(await page.locator('.hf-row').count()).toBeLessThan(30)
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
    await expect.poll(() => page.locator('.hf-row').count()).toBe(30)

    const tops = await page
      .locator('.hf-row')
      .evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().top + scrollY))
    expect(tops).toEqual(tops.toSorted((a, b) => a - b))
    const isCut = await page.evaluate(() =>
      [
        ...document.querySelectorAll(
          'html, body, #root, .app, .app-main, .hf-thread, .hf-list, .hf-scroll',
        ),
      ]
        .filter((element) => element.scrollHeight > element.clientHeight + 1)
        .map((element) => element.className)
        .filter((name) => name !== ''),
    )
    expect(isCut).toEqual([])
    for (const chrome of ['.app-sidebar', '.hf-foot', '.hf-message-actions', '.app-export']) {
      expect(await page.locator(`${chrome}:visible`).count()).toBe(0)
    }
    expect(await page.getByRole('heading', { level: 1 }).isVisible()).toBe(true)
    // Ink is dark and paper is light, whatever the screen was.
    const ink = await page
      .locator('.hf-thread')
      .evaluate((thread) => getComputedStyle(thread).color)
    expect(ink).toBe('rgb(27, 27, 31)')

    await page.emulateMedia({ media: 'screen', colorScheme: 'dark' })
    await expect.poll(() => page.locator('.hf-row').count()).toBeLessThan(30)
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('fills as many sheets as it needs, and says what was left out', async () => {
    await writeExchanges(app.server.url, 'sheets', { from: 1, to: 40 })
    const chat = await openChat(app.browser, `${app.server.url}/t/sheets`)
    await chat.page.getByText('Message number 40', { exact: true }).waitFor()
    const pdf = (await chat.page.pdf({ format: 'A5' })).toString('latin1')
    expect(pdf.match(/\/Type\s*\/Page\b/g)?.length).toBeGreaterThan(2)
    await chat.page.emulateMedia({ media: 'print' })
    await chat.page.getByText('There are earlier messages.').waitFor()
    await chat.close()
  })

  it('[CD2] shows what a card folds away', async () => {
    const built = await buildPage({ root: join(import.meta.dirname, 'kit-page') })
    const chat = await openChat(app.browser, `${app.server.url}/folded?new`, { built })
    const { page } = chat
    await chat.sendMessage('Delete note Reading')
    await page.getByRole('button', { name: 'Accept' }).click()
    await chat.ended()
    const folded = page.locator('.hf-generic .hf-json')
    expect(await folded.isVisible()).toBe(false)
    await page.emulateMedia({ media: 'print' })
    await folded.waitFor()
    expect(await folded.textContent()).toContain('Reading')
    await chat.close()
    built.remove()
  })
})
