import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { type ChatPage, openChat } from './chat-page.ts'
import { startApp } from './start-app.ts'
import { chooseAction } from './thread-menu.ts'

/** What has the focus, in the words by which people know it; `nothing` where it was lost. */
const focusIn = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const focused = document.activeElement
    if (focused === null || focused === document.body) return 'nothing'
    if (focused.matches('.hf-queue li')) return focused.querySelector('span')?.textContent ?? ''
    return focused.getAttribute('aria-label') ?? focused.textContent
  })

async function press(button: Locator, key = 'Enter'): Promise<void> {
  await button.focus()
  await button.press(key)
}

async function queue(chat: ChatPage, ...texts: readonly string[]): Promise<void> {
  await chat.sendMessage('Slow tool 600')
  await chat.widget.getByText('Slow tool…').waitFor()
  for (const text of texts) {
    await chat.sendMessage(text)
    await chat.page.locator('.hf-queue li').getByText(text).waitFor()
  }
}

// npm has a browser for Linux on x64 alone; elsewhere CHROMIUM names one: see `hasBrowser`.
describe.skipIf(!hasBrowser)('the focus of whoever uses the keyboard', () => {
  const app = startApp({ delayMs: 0 })
  const composer = 'Message Holdfast…'

  it('[UX1] stays where somebody went on to while a name, an edit, a comment or a stop was under way', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    const search = page.getByRole('searchbox')
    /** Presses Enter, moves the focus to the search field while the request is held, and tells where it is afterwards. */
    const movedOn = async (address: string, isDone: Locator): Promise<string> => {
      const released = Promise.withResolvers<void>()
      await page.route(address, async (route) => {
        await released.promise
        await route.continue()
      })
      const asked = page.waitForRequest(address)
      await page.keyboard.press('Enter')
      const request = await asked
      await search.focus()
      released.resolve()
      const response = await request.response()
      // The stream of an answer goes on; that it has begun is enough.
      if (!address.endsWith('/chat')) await response?.finished()
      await isDone.waitFor()
      await page.unroute(address)
      // Whatever would take the focus has been drawn by the second frame.
      await page.evaluate(
        () =>
          new Promise<void>((resolve) => {
            requestAnimationFrame(() => requestAnimationFrame(() => resolve()))
          }),
      )
      return focusIn(page)
    }
    await chat.sendMessage('Stock ACME')
    await chat.ended()
    const searching = 'Search conversations'

    await chooseAction(page, 'Stock ACME', 'Rename')
    await page.getByRole('textbox', { name: 'New name' }).fill('Shares')
    const renamed = page.getByRole('link', { name: 'Shares' })
    expect(await movedOn('**/api/threads/*', renamed)).toBe(searching)
    await chooseAction(page, 'Shares', 'Rename')
    await page.getByRole('textbox', { name: 'New name' }).press('Enter')
    await expect.poll(() => focusIn(page)).toBe('Actions for Shares')

    await press(page.getByRole('button', { name: 'Bad answer' }))
    const comment = page.locator('.hf-feedback-form input')
    await comment.fill('Too short')
    const rated = page.locator('.hf-turn:not(:has(.hf-feedback-form))')
    expect(await movedOn('**/feedback', rated)).toBe(searching)

    await press(page.getByRole('button', { name: 'Edit' }))
    await page.getByRole('textbox', { name: 'Edit' }).fill('Slow tool 600')
    await page.getByRole('button', { name: 'Save and send' }).focus()
    expect(await movedOn('**/api/chat', page.getByText('2 / 2'))).toBe(searching)

    await chat.widget.getByText('Slow tool…').waitFor()
    await page.getByRole('button', { name: 'Stop' }).focus()
    const stopped = page.locator('[data-ending=stopped]')
    expect(await movedOn('**/stop', stopped)).toBe(searching)
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('[UX1] [IN2] stays in the queue as long as there is one, then goes to the composer', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    await queue(chat, 'Stock ACME', 'Weather in Rome', 'Time in Tokyo')
    const remove = page.getByRole('button', { name: 'Remove' })
    await press(remove.nth(1))
    await expect.poll(() => focusIn(page)).toBe('Time in Tokyo')
    await press(remove.nth(1))
    await expect.poll(() => focusIn(page)).toBe('Stock ACME')
    await press(page.getByRole('button', { name: 'Edit message' }))
    await page.keyboard.press('Escape')
    await expect.poll(() => focusIn(page)).toBe('Edit message')
    await press(remove)
    await expect.poll(() => focusIn(page)).toBe(composer)
    for (const name of ['Send next', 'Send now, into the answer']) {
      await chat.composer.fill('And then?')
      await press(page.getByRole('button', { name }))
      await expect.poll(() => focusIn(page)).toBe(composer)
    }
    await press(page.getByRole('button', { name: 'Stop' }))
    await press(page.getByRole('button', { name: 'Send now' }))
    await expect.poll(() => focusIn(page)).not.toBe('nothing')
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('[UX1] [AP6] goes to the next approval, not to a button of it: a key that is held down decides once', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    await chat.sendMessage('Delete notes A, B and C')
    const reject = page.getByRole('button', { name: 'Reject', exact: true })
    await reject.nth(2).waitFor()
    await press(reject.nth(0))
    await expect.poll(() => focusIn(page)).toBe('Allow “Delete note”? B')
    await press(page.getByRole('button', { name: 'Reject all 2' }))
    await chat.ended()
    await expect.poll(() => focusIn(page)).not.toBe('nothing')
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('[UX1] [VR1] comes back from an edit to where it was opened, and is not lost by a new answer', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    await chat.sendMessage('Stock ACME')
    await chat.ended()
    const edit = page.getByRole('button', { name: 'Edit' })
    await press(edit)
    await page.keyboard.press('Escape')
    await expect.poll(() => focusIn(page)).toBe('Edit')
    await press(edit)
    await page.getByRole('textbox', { name: 'Edit' }).fill('Stock TSLA')
    await press(page.getByRole('button', { name: 'Save and send' }))
    await page.getByText('2 / 2').waitFor()
    await expect.poll(() => focusIn(page)).toBe('Edit')
    await chat.ended()
    await press(page.getByRole('button', { name: 'Regenerate' }))
    await page.locator('.hf-turn .hf-versions').getByText('2 / 2').waitFor()
    await expect.poll(() => focusIn(page)).not.toBe('nothing')
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('[UX1] [FK5] is in the dialog after a link was revoked, and in the list after something was taken back', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    await chat.sendMessage('Stock GONE')
    await chat.ended()
    await page.getByRole('button', { name: 'Share this conversation' }).click()
    await page.getByRole('button', { name: 'Create a link' }).click()
    await press(page.getByRole('button', { name: /^Revoke/ }))
    await page.getByText('There is no link to this conversation.').waitFor()
    await expect.poll(() => focusIn(page)).toBe('Create a link')
    await page.keyboard.press('Escape')
    await press(page.getByRole('button', { name: 'Actions for Stock GONE' }))
    await page.getByRole('menuitem', { name: 'Archive' }).press('Enter')
    await press(page.getByRole('button', { name: 'Undo' }))
    await expect.poll(() => focusIn(page)).toContain('New chat')
    await press(page.getByRole('button', { name: 'Archived', exact: true }))
    await expect.poll(() => focusIn(page)).toBe('All conversations')
    await page.keyboard.press('Enter')
    await expect.poll(() => focusIn(page)).toBe('Archived')
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('finds in the settings which keys there are', async () => {
    const chat = await openChat(app.browser, app.server.url)
    await chat.page.getByRole('button', { name: 'Settings' }).click()
    const keys = chat.page.locator('.app-keys')
    expect(await keys.locator('dt').allInnerTexts()).toHaveLength(6)
    expect((await keys.locator('kbd').allInnerTexts()).slice(0, 3)).toEqual([
      'Enter',
      'Ctrl',
      'Enter',
    ])
    await chat.close()
  })
})
