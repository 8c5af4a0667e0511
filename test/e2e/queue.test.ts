import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { type ChatPage, chatIn, openChat } from './chat-page.ts'
import { startApp } from './start-app.ts'
import { tabTo } from './tab-to.ts'

const rowsOf = ({ page }: ChatPage) => page.locator('.hf-queue li')
const waitingWords = (chat: ChatPage): Promise<string[]> =>
  rowsOf(chat).locator('.hf-queue-text').allInnerTexts()
const userTexts = ({ page }: ChatPage): Promise<string[]> =>
  page.locator('.hf-user .hf-user-text').allInnerTexts()

/** Asks while a turn runs, and waits until it is stored as the nth that waits. */
async function queue(chat: ChatPage, text: string, place: number): Promise<void> {
  await chat.sendMessage(text)
  await rowsOf(chat)
    .nth(place - 1)
    .getByText(text)
    .waitFor()
}

async function startSlow(chat: ChatPage, text = 'Slow tool 600'): Promise<void> {
  await chat.sendMessage(text)
  await chat.widget.last().getByText('Slow tool…').waitFor()
}

// npm has a browser for Linux on x64 alone; elsewhere CHROMIUM names one: see `hasBrowser`.
describe.skipIf(!hasBrowser)('what is said while a turn runs, in a browser', () => {
  const app = startApp({ delayMs: 0 })

  it('[IN1] [IN2] Enter queues; what waits is there in both tabs and after a reload, and each is answered in its turn', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    await startSlow(chat, 'Slow tool 4')
    await queue(chat, 'Stock ACME', 1)
    await queue(chat, 'Weather in Rome', 2)
    await page.getByText('2 messages are queued.').waitFor()
    expect(await chat.composer.inputValue()).toBe('')
    const second = await chatIn(await page.context().newPage(), page.url())
    await page.reload()
    await chat.ended(3)
    await second.ended(3)
    for (const tab of [chat, second]) {
      expect(await userTexts(tab)).toEqual(['Slow tool 4', 'Stock ACME', 'Weather in Rome'])
      expect(await tab.answers.allInnerTexts()).toEqual([
        expect.stringContaining('4 seconds'),
        expect.stringContaining('ACME'),
        expect.stringContaining('Rome'),
      ])
      expect(await rowsOf(tab).count()).toBe(0)
      expect(await tab.faults()).toEqual([])
    }
    await chat.close()
  })

  it.each(['Control+Enter', 'Meta+Enter'])(
    '[IN3] %s steers: the message joins the turn at its next step and is answered in it',
    async (keys) => {
      const chat = await openChat(app.browser, app.server.url)
      const { page } = chat
      await startSlow(chat, 'Slow tool 3')
      await chat.composer.fill('Weather in Oslo')
      await chat.composer.press(keys)
      await page.locator('.hf-queue').getByText('joins at the next step').waitFor()
      await page.locator('.hf-turn .hf-steering').getByText('Weather in Oslo').waitFor()
      await chat.ended()
      expect(await page.locator('.hf-turn').count()).toBe(1)
      expect(await page.locator('[data-tool=get_weather]').count()).toBe(1)
      // What was done because of it stands below it.
      expect(await page.locator('.hf-steering ~ .hf-cards [data-tool=get_weather]').count()).toBe(1)
      await page.reload()
      await chat.ended()
      expect(await page.locator('.hf-turn .hf-steering').innerText()).toBe('Weather in Oslo')
      expect(await userTexts(chat)).toEqual(['Slow tool 3'])
      expect(await chat.faults()).toEqual([])
      await chat.close()
    },
  )

  it('[IN3] a button steers, too; Shift+Enter sends nothing', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    await startSlow(chat, 'Slow tool 3')
    await chat.composer.fill('Weather in Bonn')
    await chat.composer.press('Shift+Enter')
    expect(await chat.composer.inputValue()).toBe('Weather in Bonn\n')
    await page.getByRole('button', { name: 'Send now, into the answer' }).click()
    await page.locator('.hf-turn .hf-steering').getByText('Weather in Bonn').waitFor()
    await chat.ended()
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('[IN2] what waits is edited, moved and withdrawn by keyboard, and so in the other tab', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    await startSlow(chat)
    await queue(chat, 'Stock ACME', 1)
    await queue(chat, 'Weather in Rome', 2)
    await queue(chat, 'Time in Tokyo', 3)
    const second = await chatIn(await page.context().newPage(), page.url())

    await rowsOf(chat).nth(0).getByRole('button', { name: 'Edit message' }).focus()
    await page.keyboard.press('Enter')
    const field = page.getByRole('textbox', { name: 'Edit message' })
    await field.fill('Never mind')
    await page.keyboard.press('Escape')
    expect(await waitingWords(chat)).toContain('Stock ACME')
    await rowsOf(chat).nth(0).getByRole('button', { name: 'Edit message' }).click()
    await field.fill('Stock TSLA')
    await tabTo(page, 'Save', 'Tab')
    await page.keyboard.press('Enter')
    await rowsOf(chat).getByText('Stock TSLA').waitFor()

    // The frame that shows a move may come before the response to it.
    const responding = Promise.withResolvers<void>()
    await page.route('**/queue/*', async (route) => {
      const response = await route.fetch()
      await responding.promise
      await route.fulfill({ response })
    })
    const third = rowsOf(chat).filter({ hasText: 'Time in Tokyo' })
    await third.getByRole('button', { name: 'Move up' }).focus()
    await page.keyboard.press('Enter')
    await expect
      .poll(() => waitingWords(chat))
      .toEqual(['Stock TSLA', 'Time in Tokyo', 'Weather in Rome'])
    // The focus stays on what was pressed, so that it can be pressed again.
    await page.keyboard.press('Enter')
    const moved = ['Time in Tokyo', 'Stock TSLA', 'Weather in Rome']
    await expect.poll(() => waitingWords(chat)).toEqual(moved)
    responding.resolve()
    expect(await third.getByRole('button', { name: 'Move up' }).isDisabled()).toBe(true)

    // Down again and once more, with the focus where it was.
    await third.getByRole('button', { name: 'Move down' }).focus()
    await page.keyboard.press('Enter')
    const down = ['Stock TSLA', 'Time in Tokyo', 'Weather in Rome']
    await expect.poll(() => waitingWords(chat)).toEqual(down)
    await page.keyboard.press('Enter')
    await expect.poll(() => waitingWords(chat)).toEqual([down[0], down[2], down[1]])

    await rowsOf(chat).nth(2).getByRole('button', { name: 'Remove' }).click()
    await page.getByText('2 messages are queued.').waitFor()
    await expect.poll(() => waitingWords(second)).toEqual(['Stock TSLA', 'Weather in Rome'])
    expect([...(await chat.faults()), ...(await second.faults())]).toEqual([])
    await page.getByRole('button', { name: 'Stop' }).click()
    await chat.close()
  })

  it('[IN5] stop holds what waits and says so, after a reload too, until it is sent on', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    await startSlow(chat)
    await queue(chat, 'Stock ACME', 1)
    await queue(chat, 'Weather in Rome', 2)
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.locator('[data-ending=stopped]').waitFor()
    const note = page.getByText('Stopped. 2 messages were held back.')
    await note.waitFor()
    await page.reload()
    await note.waitFor()
    expect(await waitingWords(chat)).toEqual(['Stock ACME', 'Weather in Rome'])
    expect(await userTexts(chat)).toEqual(['Slow tool 600'])
    await rowsOf(chat).nth(1).getByRole('button', { name: 'Remove' }).click()
    await page.getByText('Stopped. 1 message was held back.').waitFor()
    await page.getByRole('button', { name: 'Send now' }).click()
    await chat.ended(2)
    await expect.poll(() => rowsOf(chat).count()).toBe(0)
    expect(await userTexts(chat)).toEqual(['Slow tool 600', 'Stock ACME'])
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('[IN2] who is too late to change what waits is shown why, and nothing is lost', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    await startSlow(chat)
    await queue(chat, 'Stock ACME', 1)
    await page.route('**/queue/*', (route) =>
      route.fulfill({
        status: 409,
        json: { error: { code: 'input-taken', message: 'It is being answered already.' } },
      }),
    )
    await rowsOf(chat).getByRole('button', { name: 'Remove' }).click()
    await rowsOf(chat).getByText('It is being answered already.').waitFor()
    expect(await waitingWords(chat)).toEqual(['Stock ACME'])
    await rowsOf(chat).getByRole('button', { name: 'Edit message' }).click()
    const field = page.getByRole('textbox', { name: 'Edit message' })
    await field.fill('Stock TSLA')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.locator('.hf-queue .hf-editor').getByText('It is being answered').waitFor()
    expect(await field.inputValue()).toBe('Stock TSLA')
    await page.unroute('**/queue/*')
    await page.getByRole('button', { name: 'Stop' }).click()
    await chat.close()
  })
})
