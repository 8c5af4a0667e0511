import { join } from 'node:path'
import type { Page, Request } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { buildPage, type BuiltPage } from '../support/built-page.ts'
import { writeExchanges } from '../support/write-exchanges.ts'
import { openChat } from './chat-page.ts'
import { scrollUntil } from './scroll-until.ts'
import { startApp } from './start-app.ts'

const root = join(import.meta.dirname, 'kit-page')

// In development, where strict mode takes every component away and puts it back once.
// npm has a browser for Linux on x64 alone; elsewhere CHROMIUM names one: see `hasBrowser`.
describe.skipIf(!hasBrowser).each(['18', '19'] as const)('the kit on React %s', (react) => {
  const app = startApp({ delayMs: 0 })
  let built: BuiltPage
  beforeAll(async () => {
    built = await buildPage({ root, react, mode: 'development' })
    await writeExchanges(app.server.url, 'long', { from: 1, to: 40 })
  })
  afterAll(() => built?.remove())

  it('[CD1] [CD3] sends, shows the card of a tool, and waits for an approval', async () => {
    const chat = await openChat(app.browser, `${app.server.url}/first?new`, { built })
    const { page } = chat
    const version = await page.locator('html').getAttribute('data-react')
    expect(version?.split('.')[0]).toBe(react)

    await chat.sendMessage('weather in Paris')
    await chat.ended()
    await chat.widget.getByText('Used 1 tool').waitFor()
    expect(await page.locator('.city-card').textContent()).toBe('Paris')

    await chat.sendMessage('Delete note Travel')
    await page.getByRole('group', { name: 'Allow “Delete note”? Travel' }).waitFor()
    await page.getByRole('button', { name: 'Accept' }).click()
    await chat.ended(2)
    await page.getByText('Accepted by you').first().waitFor()
    expect(await chat.answers.last().textContent()).toContain('I deleted the note “Travel”.')

    const shown = await wordsOf(page)
    await page.goto(`${app.server.url}/first`)
    await chat.ended(2)
    expect(await wordsOf(page)).toEqual(shown)
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('[PG2] opens a long thread at its end and loads upward, in strict mode', async () => {
    const chat = await openChat(app.browser, `${app.server.url}/long`, { built })
    const { page } = chat
    await userMessage(page, 40).waitFor()
    await expect.poll(() => distanceFromEnd(page)).toBeLessThan(2)
    expect(await page.locator('.hf-row').count()).toBeLessThan(40)
    await scrollUntil(userMessage(page, 1), () =>
      page.locator('.hf-scroll').evaluate(async (scroll) => {
        scroll.scrollBy(0, -400)
        await new Promise((resolve) => {
          requestAnimationFrame(resolve)
        })
      }),
    )
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('[CL9] gives the same through its hooks, and asks for no calls of no message', async () => {
    const chat = await openChat(app.browser, `${app.server.url}/hooks?new&hooks`, { built })
    const { page } = chat
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    const given = async () => JSON.parse(await page.locator('output').innerText()) as unknown
    const none = { isComplete: false, isLoading: false, hasToolCalls: false, states: [] }
    expect(await given()).toMatchObject({ messages: 0, hasOlder: false, calls: none })
    expect(asked.filter((path) => path.endsWith('/tool-calls'))).toEqual([])

    await chat.sendMessage('Slow tool 2')
    const running = { isComplete: false, hasToolCalls: true, states: ['slow_tool: running'] }
    await expect.poll(given).toMatchObject({ messages: 2, status: 'live', calls: running })
    await chat.ended()
    const done = { isComplete: true, hasToolCalls: true, states: ['slow_tool: completed'] }
    await expect.poll(given).toMatchObject({ calls: done })
    // The two lists were read, and then followed with the thread.
    const lists = asked.filter((path) => /^\/api\/messages\/[^/]+\/tool-calls$/.test(path))
    expect(lists.length).toBeLessThanOrEqual(4)
    const feeds = asked.filter((path) => path.endsWith('/events'))
    expect(feeds).toHaveLength(1)

    await chat.sendMessage('fail tool')
    await chat.ended(2)
    await expect
      .poll(given)
      .toMatchObject({ calls: { isComplete: true, states: { length: 2 } }, all: { length: 3 } })

    await page.goto(`${app.server.url}/long?hooks`)
    await expect.poll(given).toMatchObject({ hasOlder: true, calls: { hasToolCalls: false } })
    const { messages } = (await given()) as { readonly messages: number }
    await page.getByRole('button', { name: 'Older' }).click()
    await expect.poll(given).toMatchObject({ messages: Math.min(80, messages + 30) })
    const { threads } = (await given()) as { readonly threads: readonly string[] }
    expect(threads.filter((id) => id !== 'first').toSorted()).toEqual(['hooks', 'long'])
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('[RS2] follows a thread over one connection, in strict mode', async () => {
    const chat = await openChat(app.browser, `${app.server.url}/long`, { built })
    const open = new Set<Request>()
    chat.page.on('request', (request) => {
      if (request.url().includes('/events?')) open.add(request)
    })
    chat.page.on('requestfailed', (request) => open.delete(request))
    chat.page.on('requestfinished', (request) => open.delete(request))
    await chat.page.reload()
    await userMessage(chat.page, 40).waitFor()
    await chat.page.locator('[data-connection=live]').waitFor({ state: 'attached' })
    expect(open.size).toBe(1)
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })
})

const wordsOf = (page: Page): Promise<readonly string[]> =>
  page.locator('.hf-turn').allTextContents()

const userMessage = (page: Page, number: number) =>
  page.locator('.hf-user-text', { hasText: new RegExp(`^Message number ${number}$`) })

const distanceFromEnd = (page: Page): Promise<number> =>
  page
    .locator('.hf-scroll')
    .evaluate((scroll) => scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight)
