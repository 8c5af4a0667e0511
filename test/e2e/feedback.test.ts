import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { chatIn, openChat } from './chat-page.ts'
import { startApp } from './start-app.ts'
import { tabTo } from './tab-to.ts'

// npm has a browser for Linux on x64 alone; elsewhere CHROMIUM names one: see `hasBrowser`.
describe.skipIf(!hasBrowser)('feedback, in a browser', () => {
  const app = startApp({ delayMs: 0 })

  it('[FK4] an answer is rated by keyboard with a word, in both tabs, after a reload, and taken back', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    await chat.sendMessage('Weather in Paris')
    await chat.ended()
    await page.waitForURL(/\/t\//)
    const second = await chatIn(await page.context().newPage(), page.url())
    const up = page.getByRole('button', { name: 'Good answer' })
    const down = page.getByRole('button', { name: 'Bad answer' })
    expect(await down.getAttribute('aria-pressed')).toBe('false')
    await tabTo(page, 'Bad answer', 'Shift+Tab')
    await page.keyboard.press('Enter')
    const field = page.getByRole('textbox', { name: 'Comment (optional)' })
    await field.waitFor()
    await page.locator('[aria-label="Bad answer"][aria-pressed=true]').waitFor()
    expect(await field.evaluate((element) => element === document.activeElement)).toBe(true)
    await page.keyboard.type('It rains.')
    await page.keyboard.press('Enter')
    await field.waitFor({ state: 'detached' })
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))
    expect(await focused()).toBe('Bad answer')
    // The other tab follows.
    await second.page.locator('[aria-label="Bad answer"][aria-pressed=true]').waitFor()
    const said = await page.evaluate(async () => {
      const id = location.pathname.split('/').at(-1)
      const answer = await fetch(`/api/threads/${id}/messages`)
      const { results } = (await answer.json()) as { results: { metadata?: object }[] }
      return results[0]?.metadata
    })
    expect(said).toMatchObject({
      feedback: [{ by: 'local', rating: 'down', comment: 'It rains.' }],
    })

    await page.reload()
    await page.locator('[aria-label="Bad answer"][aria-pressed=true]').waitFor()
    await up.click()
    await field.waitFor()
    await page.locator('[aria-label="Good answer"][aria-pressed=true]').waitFor()
    expect(await down.getAttribute('aria-pressed')).toBe('false')
    await page.keyboard.press('Escape')
    await field.waitFor({ state: 'detached' })
    await up.click()
    await page.locator('[aria-label="Good answer"][aria-pressed=false]').waitFor()
    await second.page.locator('[aria-label="Good answer"][aria-pressed=false]').waitFor()
    expect(await page.locator('.hf-feedback-form').count()).toBe(0)
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })
})
