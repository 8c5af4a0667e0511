import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { chatIn, openChat } from './chat-page.ts'
import { startApp } from './start-app.ts'
import { tabTo } from './tab-to.ts'

// npm has a browser for Linux on x64 alone; elsewhere CHROMIUM names one: see `hasBrowser`.
describe.skipIf(!hasBrowser)('going back, in a browser', () => {
  const app = startApp({ delayMs: 0 })

  it('[VR1] an edited message is switched back by keyboard, without a reload, in both tabs, by a link too', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    await chat.sendMessage('Weather in Paris')
    await chat.ended()
    await page.waitForURL(/\/t\//)
    const second = await chatIn(await page.context().newPage(), page.url())
    await page.locator('.hf-user').hover()
    await page.getByRole('button', { name: 'Edit' }).first().click()
    await page.getByRole('textbox', { name: 'Edit' }).fill('Weather in Oslo')
    await page.getByRole('button', { name: 'Save and send' }).click()
    const versions = page.locator('.hf-user .hf-versions')
    await versions.getByText('2 / 2').waitFor()
    await page.locator('.hf-turn[data-status=ended]').getByText('Oslo').first().waitFor()

    await tabTo(page, 'Previous version', 'Shift+Tab')
    await page.keyboard.press('Enter')
    await versions.getByText('1 / 2').waitFor()
    await page.locator('.hf-user').getByText('Weather in Paris').waitFor()
    await page.locator('.hf-turn').getByText('Paris').first().waitFor()
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))
    expect(await focused()).toBe('Previous version')
    // The other tab follows.
    await second.page.locator('.hf-user').getByText('Weather in Paris').waitFor()
    await second.page.locator('.hf-versions').getByText('1 / 2').first().waitFor()

    const shown = await page.evaluate(async () => {
      const id = location.pathname.split('/').at(-1)
      const answer = await fetch(`/api/threads/${id}/messages`)
      const { results } = (await answer.json()) as {
        results: { metadata?: { versions?: { ids: string[] } } }[]
      }
      return results.at(-1)?.metadata?.versions?.ids ?? []
    })
    const linked = await chatIn(
      await page.context().newPage(),
      `${page.url()}#${encodeURIComponent(shown[1] ?? '')}`,
    )
    await linked.page.locator('.hf-user').getByText('Weather in Oslo').waitFor()
    await versions.getByText('2 / 2').waitFor()
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('[VR3] says in plain words what going back does not undo', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    await chat.sendMessage('Charge card')
    await chat.ended()
    await page.getByRole('button', { name: 'Regenerate' }).click()
    await page.getByText('2 / 2').waitFor()
    await page.getByText(/These stay done: Charge card/).waitFor()
    await chat.ended()
    await page.getByRole('button', { name: 'Previous version' }).click()
    await page.getByText('1 / 2').waitFor()
    await page.getByText(/These stay done: Charge card/).waitFor()
    await chat.close()
  })

  it('[VR4] a fork opens and says where it came from', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    await chat.sendMessage('Stock ACME')
    await chat.ended()
    await chat.sendMessage('Weather in Paris')
    await chat.ended(2)
    await page.waitForURL(/\/t\//)
    const from = page.url()
    await page.locator('.hf-turn').first().hover()
    await page.locator('.hf-turn').first().getByRole('button', { name: 'Fork' }).click()
    await page.waitForURL((url) => url.href !== from)
    await page.getByText('Forked from another chat').waitFor()
    expect(await page.locator('.hf-turn').count()).toBe(1)
    await chat.sendMessage('Time in Oslo')
    await chat.ended(2)
    await page.getByText('Forked from another chat').click()
    await page.waitForURL((url) => url.href.startsWith(from))
    await page.locator('.hf-user').getByText('Weather in Paris').waitFor()
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })
})
