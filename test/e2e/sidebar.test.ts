import { readFileSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AppServer, startAppServer } from '../support/app-server.ts'
import { hasBrowser, openBrowser } from '../support/browser.ts'
import { openChat } from './chat-page.ts'

describe.skipIf(!hasBrowser)('the list of threads', () => {
  let server: AppServer
  let browser: Browser
  beforeAll(async () => {
    server = await startAppServer({ delayMs: 0 })
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.close()
  })

  it('renames, searches, deletes with a way back, and exports', async () => {
    const chat = await openChat(browser, server.url)
    const { page } = chat
    const links = page.locator('.app-thread a')
    await chat.ask('Stock ACME')
    await chat.ended()
    await page.keyboard.press('Control+k')
    await chat.ask('AFL code for a moving average')
    await chat.ended()
    await expect.poll(() => links.count()).toBe(2)

    await page.getByRole('button', { name: 'Rename Stock ACME' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('textbox', { name: 'New name' }).fill('My shares')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'My shares' }).waitFor()

    await page.getByRole('searchbox').fill('shares')
    await expect.poll(() => links.allTextContents()).toEqual(['My shares'])
    await page.getByRole('button', { name: 'Delete My shares' }).focus()
    await page.keyboard.press('Enter')
    await page.getByText('Nothing found.').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('link', { name: 'My shares' }).waitFor()

    await page.getByText('Export', { exact: true }).click()
    const coming = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Markdown' }).click()
    const file = readFileSync(await (await coming).path(), 'utf8')
    expect(file).toContain('# AFL code for a moving average')
    expect(file).toContain('**get_afl_code**')
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })
})
