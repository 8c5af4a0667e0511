import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { buildPage } from '../support/built-page.ts'
import { openChat } from './chat-page.ts'
import { startApp } from './start-app.ts'

const arabic = 'ما هو الطقس في باريس؟'
const answer = [
  'الطقس مشمس اليوم، 18 °C.',
  'It is sunny.',
  '- أولا\n- ثانيا',
  '> اقتباس قصير',
  '| المدينة | الحرارة |\n|---|---|\n| باريس | 18 |',
  '```js\nconst a = 1\n```',
].join('\n\n')

// npm has a browser for Linux on x64 alone; elsewhere CHROMIUM names one: see `hasBrowser`.
describe.skipIf(!hasBrowser)('text from right to left', () => {
  const app = startApp({ delayMs: 0 })
  beforeAll(async () => {
    const messages = [
      { id: 'u1', role: 'user', parts: [{ type: 'text', text: arabic }] },
      { id: 'a1', role: 'assistant', parts: [{ type: 'text', text: answer }] },
    ]
    await fetch(`${app.server.url}/api/import`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: 'arabic', title: arabic, messages }),
    })
  })

  it('has its own direction in each message and block, and code never has', async () => {
    const chat = await openChat(app.browser, `${app.server.url}/t/arabic`)
    const { page } = chat
    await chat.answers.waitFor()
    const directions = {
      '.hf-user-text': 'rtl',
      '.hf-answer p >> nth=0': 'rtl',
      '.hf-answer p >> nth=1': 'ltr',
      '.hf-answer ul': 'rtl',
      '.hf-answer li >> nth=0': 'rtl',
      '.hf-answer blockquote': 'rtl',
      '.hf-answer blockquote p': 'rtl',
      '.hf-answer table': 'rtl',
      '.hf-answer pre': 'ltr',
    }
    const found = Object.keys(directions).map(async (selector) => [
      selector,
      await page.locator(selector).evaluate((element) => getComputedStyle(element).direction),
    ])
    expect(Object.fromEntries(await Promise.all(found))).toEqual(directions)
    // The marks of a list stand in the room that it leaves for them, on its right.
    const room = await page
      .locator('.hf-answer ul')
      .evaluate((list) => Number.parseFloat(getComputedStyle(list).paddingRight))
    expect(room).toBeGreaterThan(16)
    await chat.composer.fill(arabic)
    expect(await directionOf(page, '.hf-composer textarea')).toBe('rtl')
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it.each([360, 1_280])(
    'turns the whole page round at %i px, and nothing sticks out',
    async (width) => {
      const chat = await openChat(app.browser, app.server.url, { viewport: { width, height: 800 } })
      const { page } = chat
      await page.evaluate(() => {
        document.documentElement.dir = 'rtl'
      })
      for (const [index, text] of [
        'weather in Paris',
        'Stock ACME',
        'Search my notes for coffee',
      ].entries()) {
        await chat.sendMessage(text)
        await chat.ended(index + 1)
      }
      await chat.widget.last().click()
      await page.getByRole('button', { name: 'Timeline' }).click()
      expect(await turnOf(page, '.hf-widget-toggle .hf-icon-chevron >> nth=0')).toBe('180deg')
      expect(await turnOf(page, '[aria-expanded=true] .hf-icon-chevron')).toBe('90deg')

      const isMirrored = await page.evaluate(() => {
        const middleOf = (selector: string) => {
          const box = document.querySelector(selector)?.getBoundingClientRect()
          return box === undefined ? Number.NaN : (box.left + box.right) / 2
        }
        return {
          bubble: middleOf('.hf-bubble') < middleOf('.hf-user'),
          send: middleOf('.hf-send') < middleOf('.hf-composer textarea'),
          widget: middleOf('.hf-widget-toggle') > middleOf('.hf-turn'),
          firstBar: middleOf('.hf-bar-fill') > middleOf('.hf-bar-track'),
        }
      })
      expect(isMirrored).toEqual({ bubble: true, send: true, widget: true, firstBar: true })
      expect(await sticksOut(page)).toEqual([])
      if (width > 768) {
        const sidebar = await page.locator('.app-sidebar').boundingBox()
        expect(sidebar?.x).toBeGreaterThan(width / 2)
      } else {
        await page.getByRole('button', { name: 'Show the list' }).click()
        const drawer = await page.locator('.app-sidebar').boundingBox()
        expect((drawer?.x ?? 0) + (drawer?.width ?? 0)).toBe(width)
      }
      expect(await chat.faults()).toEqual([])
      await chat.close()
    },
  )

  it('reads a chart, JSON and numbers from left to right all the same', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    await page.evaluate(() => {
      document.documentElement.dir = 'rtl'
    })
    await chat.sendMessage('Stock ACME')
    await chat.ended()
    await chat.widget.click()
    await page.locator('.hf-fold > summary').first().click()
    const first = await page.locator('.card-chart figcaption span').first().boundingBox()
    const last = await page.locator('.card-chart figcaption span').last().boundingBox()
    expect(first?.x).toBeLessThan(last?.x ?? 0)
    for (const selector of ['.hf-json', '.card-price', '.card-change', '.card-chart']) {
      expect(await directionOf(page, `${selector} >> nth=0`)).toBe('ltr')
    }
    await chat.close()
  })

  it('works in a page of a host that is from right to left', async () => {
    const built = await buildPage({ root: join(import.meta.dirname, 'kit-page') })
    const chat = await openChat(app.browser, `${app.server.url}/host?new&dir=rtl`, { built })
    await chat.sendMessage('Delete note Meeting')
    await chat.page.getByRole('button', { name: 'Reject' }).click()
    await chat.ended()
    expect(await sticksOut(chat.page)).toEqual([])
    expect(await chat.faults()).toEqual([])
    await chat.close()
    built.remove()
  })
})

const directionOf = (page: Page, selector: string): Promise<string> =>
  page.locator(selector).evaluate((element) => getComputedStyle(element).direction)

const turnOf = (page: Page, selector: string): Promise<string> =>
  page.locator(selector).evaluate((element) => getComputedStyle(element).rotate)

/** What reaches over an edge of the column, where nobody could read it. */
const sticksOut = (page: Page): Promise<readonly string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll('.hf-row *, .hf-foot *')]
      .filter((element) => {
        const { left, right, width } = element.getBoundingClientRect()
        const isHidden =
          width <= 1 || element.closest('.hf-visually-hidden, pre, .hf-table') !== null
        return !isHidden && (left < -1 || right > innerWidth + 1)
      })
      .map((element) => element.outerHTML.slice(0, 80)),
  )
