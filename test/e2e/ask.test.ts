import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { openChat } from './chat-page.ts'
import { startApp } from './start-app.ts'
import { tabTo } from './tab-to.ts'

// npm has a browser for Linux on x64 alone; elsewhere CHROMIUM names one: see `hasBrowser`.
describe.skipIf(!hasBrowser)('a chat in a browser', () => {
  const app = startApp({ delayMs: 3 })

  it('[CO3] [CD1] [CD2] shows the widget, the card and the answer, and the same after a reload', async () => {
    const chat = await openChat(app.browser, app.server.url)
    await chat.sendMessage('What is the weather in Paris?')
    await chat.ended()
    await chat.widget.getByText('Used 1 tool').waitFor()
    const shown = async () => {
      // The name of the model comes with the list of models, which a page reads beside the messages.
      await chat.page.locator('.hf-turn-model').waitFor()
      return chat.page
        .locator('.hf-turn')
        .evaluate((turn) => turn.textContent.replaceAll(/\s+/g, ' '))
    }
    const before = await shown()
    expect(before).toContain('Paris')
    expect(await chat.page.locator('[data-tool=get_weather] .card-weather').count()).toBe(1)
    expect(chat.page.url()).toMatch(/\/t\/.+/)
    await chat.page.reload()
    await chat.ended()
    expect(await shown()).toBe(before)
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('answers within a second of asking', async () => {
    const took: number[] = []
    // A machine that is busy with something else makes any single answer late, but not every one.
    for (let sample = 0; sample < 5; sample++) {
      const chat = await openChat(app.browser, app.server.url)
      const started = performance.now()
      await chat.sendMessage('Hello')
      await chat.page.locator('[data-role=draft], [data-role=answer]').first().waitFor()
      took.push(performance.now() - started)
      await chat.close()
    }
    expect(Math.min(...took)).toBeLessThan(1_000)
  })

  it('[CO2] streams where the answer stands, in the same element, and never takes a word back', async () => {
    const chat = await openChat(app.browser, app.server.url)
    await chat.sendMessage('Write a long answer')
    const draft = await chat.page.waitForSelector('[data-role=draft]')
    await chat.ended()
    expect(await draft.getAttribute('data-role')).toBe('answer')
    expect(await draft.isVisible()).toBe(true)
    expect(await draft.textContent()).toContain('That was the long answer.')
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('[CO2] [CO4] folds what was said before a call into the widget, which stays open meanwhile', async () => {
    const chat = await openChat(app.browser, app.server.url)
    await chat.sendMessage('Search my notes for coffee')
    await chat.widget.click()
    await chat.ended()
    expect(await chat.widget.getAttribute('aria-expanded')).toBe('true')
    const comments = await chat.page.locator('.hf-commentary').allTextContents()
    expect(comments).toEqual([
      'Let me search your notes for “coffee”.',
      'I found 2 notes. Let me read what stands there.',
    ])
    expect(await chat.answers.count()).toBe(1)
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('[CO5] opens a timeline by keyboard, whose bars stand in the order of what happened', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    await chat.sendMessage('Search my notes for coffee')
    await chat.ended()
    await chat.widget.focus()
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    const timeline = page.getByRole('list', { name: 'Timeline' })
    await timeline.waitFor()
    const bars = await timeline.locator('li').evaluateAll((all) =>
      all.map((bar) => {
        const track = bar.querySelector('.hf-bar-track')?.getBoundingClientRect()
        const fill = bar.querySelector('.hf-bar-fill')?.getBoundingClientRect()
        return {
          name: bar.querySelector('bdi')?.textContent,
          from: (fill?.left ?? 0) - (track?.left ?? 0),
          left: (track?.right ?? 0) - (fill?.right ?? 0),
        }
      }),
    )
    expect(bars.map(({ name }) => name)).toEqual([
      'Step 1',
      'Search notes',
      'Step 2',
      'Read note',
      'Read note',
      'Step 3',
    ])
    expect(bars.map(({ from }) => from)).toEqual(
      bars.map(({ from }) => from).toSorted((a, b) => a - b),
    )
    expect(bars[0]?.from).toBeCloseTo(0, 0)
    expect(bars.at(-1)?.left).toBeCloseTo(0, 0)
    await page.keyboard.press('Enter')
    expect(await timeline.count()).toBe(0)
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('[RS2] [LG4] shows the same 30 calls after reloads in the middle of them', async () => {
    const chat = await openChat(app.browser, app.server.url)
    await chat.sendMessage('Call 30 tools')
    // While it is asked, while calls come in, while they run, and while the answer is written.
    await chat.page.waitForURL(/\/t\//)
    await chat.page.reload()
    await chat.page.locator('.hf-turn').waitFor()
    await chat.page.reload()
    await chat.widget.waitFor()
    await chat.page.reload()
    await chat.widget.getByText('Used 30 tools').waitFor()
    await chat.page.reload()
    await chat.ended()
    await chat.widget.getByText('Used 30 tools').waitFor()
    await chat.widget.click()
    await chat.page.getByRole('button', { name: /^30 tools: 30 done/ }).click()
    expect(await chat.page.locator('.hf-call[data-call-state=succeeded]').count()).toBe(30)
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('[ST1] stops by keyboard, keeps what came, and takes the next message', async () => {
    const chat = await openChat(app.browser, app.server.url)
    await chat.sendMessage('Slow tool 30')
    await chat.widget.getByText('Slow tool…').waitFor()
    await tabTo(chat.page, 'Stop', 'Tab')
    await chat.page.keyboard.press('Enter')
    await chat.page.locator('[data-ending=stopped]').waitFor()
    await chat.sendMessage('Stock ACME')
    await chat.ended(2)
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('loads at most 250 kB of scripts and styles, gzipped', () => {
    const folder = join(import.meta.dirname, '../../app/dist/assets')
    const files = readdirSync(folder).filter((name) => /\.(?:js|css)$/.test(name))
    const bytes = files.map((name) => gzipSync(readFileSync(join(folder, name))).length)
    expect(bytes.length).toBeGreaterThan(0)
    expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThan(250_000)
  })
})
