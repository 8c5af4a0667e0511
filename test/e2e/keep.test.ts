import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { openChat } from './chat-page.ts'
import { startApp } from './start-app.ts'
import { chooseAction } from './thread-menu.ts'

// npm has a browser for Linux on x64 alone; elsewhere CHROMIUM names one: see `hasBrowser`.
describe.skipIf(!hasBrowser)('keeping conversations', () => {
  const app = startApp({ delayMs: 0 })

  it('[FK2] pins, archives and takes back with the keyboard, and a message brings an archived one back', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    for (const text of ['Stock ONE', 'Stock TWO', 'Stock THREE']) {
      await page.keyboard.press('Control+k')
      await page.locator('.app-empty').waitFor()
      await chat.sendMessage(text)
      await chat.ended()
      await page.getByRole('link', { name: text }).waitFor()
    }
    const linksIn = (section: string) =>
      page.getByRole('region', { name: section, exact: true }).getByRole('link').allTextContents()
    await chooseAction(page, 'Stock ONE', 'Pin')
    await expect.poll(() => linksIn('Pinned')).toEqual(['Stock ONE'])
    expect(await linksIn('Today')).toEqual(['Stock THREE', 'Stock TWO'])
    // Whoever took it away with the keyboard is at a thread, not nowhere.
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('A')

    await chooseAction(page, 'Stock TWO', 'Archive')
    await page.getByText('Archived “Stock TWO”').waitFor()
    await expect.poll(() => linksIn('Today')).toEqual(['Stock THREE'])
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(() => linksIn('Today')).toEqual(['Stock THREE', 'Stock TWO'])
    await chooseAction(page, 'Stock TWO', 'Archive')
    await expect.poll(() => linksIn('Today')).toEqual(['Stock THREE'])
    await page.reload()
    await expect.poll(() => linksIn('Pinned')).toEqual(['Stock ONE'])

    await page.getByRole('button', { name: 'Archived', exact: true }).press('Enter')
    const back = page.getByRole('button', { name: 'All conversations' })
    await expect.poll(() => back.evaluate((button) => button === document.activeElement)).toBe(true)
    await page.getByRole('link', { name: 'Stock TWO' }).click()
    await page.locator('.app-archived').waitFor()
    await chat.ended()
    await chat.sendMessage('And again')
    await chat.ended(2)
    await page.locator('.app-archived').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'All conversations' }).click()
    await expect.poll(() => linksIn('Today')).toEqual(['Stock TWO', 'Stock THREE'])
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('[FK2] the menu goes round with arrows, and Escape closes it alone and gives the focus back', async () => {
    const chat = await openChat(app.browser, app.server.url, {
      ...{ viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true },
    })
    const { page } = chat
    await chat.sendMessage('Stock MENU')
    await chat.ended()
    await page.getByRole('button', { name: 'Show the list' }).tap()
    const button = page.getByRole('button', { name: 'Actions for Stock MENU' })
    await button.tap()
    const menu = page.getByRole('menu', { name: 'Stock MENU' })
    const focused = () => page.evaluate(() => document.activeElement?.textContent)
    await expect.poll(focused).toBe('Pin')
    const box = await menu.boundingBox()
    expect(box !== null && box.x >= 0 && box.x + box.width <= 390).toBe(true)
    const seen: (string | null | undefined)[] = []
    for (const key of ['ArrowUp', 'ArrowDown', 'End', 'Home', 'ArrowDown']) {
      await page.keyboard.press(key)
      seen.push(await focused())
    }
    expect(seen).toEqual(['Delete', 'Pin', 'Delete', 'Pin', 'Rename'])
    await page.keyboard.press('Escape')
    await menu.waitFor({ state: 'detached' })
    expect(await button.evaluate((each) => each === document.activeElement)).toBe(true)
    expect(await button.isVisible()).toBe(true)
    await button.tap()
    await menu.getByRole('menuitem', { name: 'Archive' }).tap()
    await page.getByText('Archived “Stock MENU”').waitFor()
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('[FK2] what is archived is found by its title and its words', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    await chat.sendMessage('Tell me of zebras')
    await chat.ended()
    await page.getByRole('link', { name: 'Tell me of zebras' }).waitFor()
    await chooseAction(page, 'Tell me of zebras', 'Archive')
    await page.getByText('Archived “Tell me of zebras”').waitFor()
    await page.getByRole('searchbox').fill('zebras')
    const found = page.getByRole('region', { name: 'In messages' }).getByRole('link')
    await expect.poll(() => found.count()).toBeGreaterThanOrEqual(2)
    await chat.close()
  })

  it('[FK3] the title that the model makes comes into the list and the header while one looks', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    await chat.sendMessage('Please tell me everything there is to know about the tides')
    await chat.ended()
    const title = 'Please tell me everything there is'
    await page.getByRole('link', { name: title, exact: true }).waitFor()
    await page.getByRole('heading', { name: title, exact: true, level: 1 }).waitFor()
    await expect.poll(() => page.title()).toBe(`${title} · Holdfast`)
    // What a person says stays, whatever is answered then.
    await chooseAction(page, title, 'Rename')
    await page.getByRole('textbox', { name: 'New name' }).fill('Tides')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Tides', exact: true, level: 1 }).waitFor()
    await chat.sendMessage('And the moon?')
    await chat.ended(2)
    await page.getByRole('link', { name: 'Tides', exact: true }).waitFor()
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })
})
