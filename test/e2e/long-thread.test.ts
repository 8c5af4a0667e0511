import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { writeExchanges } from '../support/write-exchanges.ts'
import { openChat } from './chat-page.ts'
import { countRenders } from './count-renders.ts'
import { scrollUntil } from './scroll-until.ts'
import { startApp } from './start-app.ts'

const exchanges = 60

// npm has a browser for Linux on x64 alone; elsewhere CHROMIUM names one: see `hasBrowser`.
describe.skipIf(!hasBrowser)('a long thread', () => {
  const app = startApp({ delayMs: 0 })
  beforeAll(async () => {
    await writeExchanges(app.server.url, 'long', { from: 1, to: exchanges })
  })

  it('opens at its end and draws only what is near the screen', async () => {
    const chat = await openChat(app.browser, `${app.server.url}/t/long`)
    await userMessage(chat.page, 60).waitFor()
    expect(await chat.page.locator('.hf-row').count()).toBeLessThan(40)
    expect(await distanceFromEnd(chat.page)).toBeLessThan(2)
    expect(await chat.page.getByRole('button', { name: 'Latest' }).count()).toBe(0)
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('[PG2] keeps the reader’s place while older messages come in, up to the first', async () => {
    const chat = await openChat(app.browser, `${app.server.url}/t/long`)
    const { page } = chat
    await userMessage(page, 60).waitFor()
    const drifts: number[] = []
    await scrollUntil(userMessage(page, 1), async () => {
      const { drift, grew } = await scrollUp(page)
      if (grew > 500) drifts.push(Math.abs(drift))
    })
    expect(drifts.length).toBeGreaterThan(1)
    expect(Math.max(...drifts)).toBeLessThan(3)
    await page.getByRole('button', { name: 'Latest' }).click()
    await userMessage(page, 60).waitFor()
    await expect.poll(() => distanceFromEnd(page)).toBeLessThan(2)
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('[RS1] leaves the reader where they are when an answer grows below', async () => {
    const chat = await openChat(app.browser, `${app.server.url}/t/long`)
    const { page } = chat
    await userMessage(page, 60).waitFor()
    await page
      .locator('.hf-scroll')
      .evaluate((scroll) => scroll.scrollTo(0, scroll.scrollTop - 1_500))
    await page.getByRole('button', { name: 'Latest' }).waitFor()
    const before = await page.locator('.hf-scroll').evaluate((scroll) => scroll.scrollTop)
    await writeExchanges(app.server.url, 'long', { from: 61, to: 61 })
    await page.getByRole('button', { name: 'Latest' }).waitFor()
    expect(await page.locator('.hf-scroll').evaluate((scroll) => scroll.scrollTop)).toBe(before)
    await chat.close()
  })

  it('[UX5] leaves what a reader opens at the end where it is, and follows again from the end', async () => {
    await writeExchanges(app.server.url, 'opened', { from: 1, to: 12 })
    const chat = await openChat(app.browser, `${app.server.url}/t/opened`)
    const { page } = chat
    await userMessage(page, 12).waitFor()
    await chat.sendMessage('Search my notes for coffee')
    await chat.widget.last().getByText('Used 3 tools').waitFor()
    await expect.poll(() => distanceFromEnd(page)).toBeLessThan(2)
    const topOf = (control: Locator) =>
      control.evaluate((element) => Math.round(element.getBoundingClientRect().top))
    const steps: [string, Locator][] = [
      ['the widget', chat.widget.last()],
      ['the timeline', page.getByRole('button', { name: 'Timeline' })],
      ['the arguments', page.locator('.hf-call').last().getByText('Arguments')],
      ['the result', page.locator('.hf-call').last().getByText('Result')],
    ]
    for (const [name, control] of steps) {
      await control.scrollIntoViewIfNeeded()
      const before = await topOf(control)
      await control.click()
      await nextFrames(page)
      expect({ name, moved: (await topOf(control)) - before }).toEqual({ name, moved: 0 })
    }
    await page.getByRole('button', { name: 'Latest' }).click()
    await expect.poll(() => distanceFromEnd(page)).toBeLessThan(2)
    await chat.sendMessage('Write a long answer')
    await page.getByText('That was the long answer.').waitFor()
    await expect.poll(() => distanceFromEnd(page)).toBeLessThan(2)
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('shows the message that a link names', async () => {
    const chat = await openChat(app.browser, `${app.server.url}/t/long#message-3`)
    const target = chat.page.locator('.hf-row[data-target]')
    await target.locator('.hf-user-text', { hasText: /number 3$/ }).waitFor()
    const box = await target.boundingBox()
    expect(box?.y).toBeGreaterThan(0)
    expect(box?.y).toBeLessThan(300)
    await chat.close()
  })

  it('shows the message whose call a link names', async () => {
    const writing = await openChat(app.browser, app.server.url)
    await writing.sendMessage('Stock ACME')
    await writing.ended()
    const path = new URL(writing.page.url()).pathname
    const call = await writing.page.locator('.hf-card').getAttribute('data-call-id')
    await writing.close()
    await writeExchanges(app.server.url, path.split('/').at(-1) ?? '', { from: 1, to: 40 })
    const chat = await openChat(app.browser, `${app.server.url}${path}#${call}`)
    const target = chat.page.locator('.hf-row[data-target]')
    await target.locator('.card-stock').waitFor()
    expect((await target.boundingBox())?.y).toBeLessThan(300)
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('draws only the message that a delta touches', async () => {
    const chat = await openChat(app.browser, `${app.server.url}/t/long`)
    const { page } = chat
    await page.addInitScript(countRenders)
    await page.reload()
    await userMessage(page, 60).waitFor()
    await page.locator('.hf-turn').last().waitFor()
    const counts = () =>
      page.evaluate(() => ({
        ...(globalThis as unknown as { renders: Record<string, number> }).renders,
      }))
    // The last one takes a while: the others must not all have ended before they are counted.
    await chat.sendMessage('Call 30 tools, then wait 2')
    await chat.widget.waitFor()
    await page.locator('.hf-user[data-pending]').waitFor({ state: 'detached' })
    const before = await counts()
    await chat.widget.getByText('Used 31 tools').waitFor()
    await chat.ended()
    const after = await counts()
    const drawn = Object.keys(after).filter((id) => after[id] !== before[id])
    const last = await page.locator('.hf-turn').last().getAttribute('data-message-id')
    expect(drawn).toEqual([last])
    await chat.close()
  })
})

const userMessage = (page: Page, index: number) =>
  page.locator('.hf-user-text', { hasText: new RegExp(`^Message number ${index}$`) })

const distanceFromEnd = (page: Page): Promise<number> =>
  page
    .locator('.hf-scroll')
    .evaluate((scroll) => scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight)

/**
 * Scrolls up a little: how far does the first message on the screen then move until all has settled, and
 * how much came in above? In one go, since what comes in may be there before the next question.
 */
function scrollUp(page: Page): Promise<{ readonly drift: number; readonly grew: number }> {
  return page.evaluate(async () => {
    const frames = (count: number) =>
      new Promise<void>((resolve) => {
        const next = (left: number) => {
          if (left === 0) resolve()
          else requestAnimationFrame(() => next(left - 1))
        }
        next(count)
      })
    const scroll = document.querySelector('.hf-scroll')
    const height = scroll?.scrollHeight ?? 0
    scroll?.scrollBy(0, -200)
    const first = [...document.querySelectorAll('.hf-row > [data-message-id]')].find(
      (row) => row.getBoundingClientRect().bottom > (scroll?.getBoundingClientRect().top ?? 0) + 40,
    )
    const id = first?.getAttribute('data-message-id')
    const topOf = () =>
      document.querySelector(`[data-message-id="${id}"]`)?.getBoundingClientRect().top ?? 0
    const top = topOf()
    const isLoading = () => document.querySelector('.hf-older') !== null
    for (let left = 1_000; left > 0; left--) {
      await frames(6)
      if (!isLoading()) break
      if (left === 1) throw new Error('The older messages have not come in 6,000 frames.')
    }
    return { drift: topOf() - top, grew: (scroll?.scrollHeight ?? 0) - height }
  })
}

/** Until the list has been measured anew and drawn. */
const nextFrames = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    for (let frame = 0; frame < 5; frame++) {
      await new Promise((resolve) => {
        requestAnimationFrame(resolve)
      })
    }
  })
