import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { buildPage } from '../support/built-page.ts'
import { openChat } from './chat-page.ts'
import { startApp } from './start-app.ts'

// npm has a browser for Linux on x64 alone; elsewhere CHROMIUM names one: see `hasBrowser`.
describe.skipIf(!hasBrowser)('the cards in a browser', () => {
  const app = startApp({ delayMs: 0 })

  it('[CD1] [CD2] are the same elements live, after a visit elsewhere, and after a reload', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    const questions = [
      'time in Tokyo and weather there',
      'Stock ACME',
      'AFL code for a moving average',
      'Search my notes for coffee',
    ]
    for (const [index, question] of questions.entries()) {
      await chat.sendMessage(question)
      await chat.ended(index + 1)
    }
    await chat.sendMessage('Delete note Ideas')
    await page.getByRole('button', { name: 'Accept' }).click()
    await chat.ended(questions.length + 1)

    const live = await cardsOf(page)
    expect(live.map(({ tool }) => tool)).toEqual([
      'get_time',
      'get_weather',
      'get_stock',
      'get_afl_code',
      'search_notes',
      'read_note',
      'read_note',
      'delete_note',
    ])
    await page.getByRole('button', { name: 'New chat' }).click()
    await page.locator('.app-empty').waitFor()
    await page.goBack()
    await chat.ended(questions.length + 1)
    expect(await cardsOf(page)).toEqual(live)
    await page.reload()
    await chat.ended(questions.length + 1)
    expect(await cardsOf(page)).toEqual(live)
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('[CD2] that throw show their data instead, and take nothing else down', async () => {
    const built = await buildPage({ root: join(import.meta.dirname, 'kit-page') })
    const chat = await openChat(app.browser, `${app.server.url}/broken?new&throws=get_time`, {
      built,
    })
    const { page } = chat
    await chat.sendMessage('time in Tokyo and weather there')
    await chat.ended()
    const broken = page.locator('[data-tool=get_time]')
    await broken.getByText('This card could not be displayed. The data is below.').waitFor()
    expect(await broken.locator('.hf-json').textContent()).toContain('Asia/Tokyo')
    expect(await page.locator('[data-tool=get_weather] .city-card').textContent()).toBe('Tokyo')
    expect(await chat.answers.textContent()).toContain('Tokyo')
    await chat.widget.click()
    expect(await page.locator('.hf-call').count()).toBe(2)

    await chat.sendMessage('weather in Oslo')
    await chat.ended(2)
    await page.locator('.city-card', { hasText: 'Oslo' }).waitFor()
    const faults = await chat.faults()
    expect(faults.filter((fault) => !fault.includes('The card of the test is broken.'))).toEqual([])
    await chat.close()
    built.remove()
  })
})

interface DrawnCard {
  readonly tool: string | null
  readonly html: string
}

/** All of them, whatever of the thread is on the screen: on paper all is drawn. */
async function cardsOf(page: Page): Promise<readonly DrawnCard[]> {
  await page.emulateMedia({ media: 'print' })
  await page.locator('.hf-row[data-index="0"]').waitFor()
  const cards = await page
    .locator('.hf-card')
    .evaluateAll((all) =>
      all.map((card) => ({ tool: card.getAttribute('data-tool'), html: card.outerHTML })),
    )
  await page.emulateMedia({ media: 'screen' })
  return cards
}
