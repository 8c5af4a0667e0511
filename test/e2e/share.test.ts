import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { openChat } from './chat-page.ts'
import { startApp } from './start-app.ts'

const linkIn = async (page: Page): Promise<string> => {
  await page.getByRole('button', { name: 'Share this conversation' }).click()
  await page.getByText('There is no link to this conversation.').waitFor()
  await page.getByRole('button', { name: 'Create a link' }).click()
  const link = page.locator('.app-links a')
  await link.waitFor()
  return (await link.getAttribute('href')) ?? ''
}

/** Somebody else, who has nothing but the address. */
async function openLink(page: Page, url: string): Promise<Page> {
  const browser = page.context().browser()
  if (browser === null) throw new Error('no browser')
  const context = await browser.newContext({ reducedMotion: 'reduce' })
  context.setDefaultTimeout(60_000)
  const reader = await context.newPage()
  await reader.goto(url)
  return reader
}

// npm has a browser for Linux on x64 alone; elsewhere CHROMIUM names one: see `hasBrowser`.
describe.skipIf(!hasBrowser)('sharing, in a browser', () => {
  const app = startApp({ delayMs: 0 })

  it('[FK5] a link shows the conversation as it was, to be read alone, until it is revoked', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    await chat.sendMessage('Weather in Paris')
    await chat.ended()
    const url = await linkIn(page)
    expect(url).toMatch(/\/s\/shr_[\w-]{32}$/)
    await page.getByRole('button', { name: 'Close' }).click()
    await chat.sendMessage('Weather in Oslo')
    await chat.ended(2)

    const reader = await openLink(page, url)
    const errors: string[] = []
    reader.on('pageerror', (error) => errors.push(error.message))
    await reader.locator('.hf-user').getByText('Weather in Paris').waitFor()
    await reader.locator('.hf-turn[data-status=ended]').getByText('Paris').first().waitFor()
    await reader.getByText(/A shared conversation, as it was on/).waitFor()
    expect(await reader.getByText('Oslo').count()).toBe(0)
    expect(await reader.getByRole('textbox').count()).toBe(0)
    for (const name of [
      'Send',
      'Regenerate',
      'Edit',
      'Fork',
      'Good answer',
      'Share this conversation',
    ]) {
      expect([name, await reader.getByRole('button', { name, exact: true }).count()]).toEqual([
        name,
        0,
      ])
    }
    // What was called can be looked at.
    await reader.locator('.hf-widget-toggle').first().click()
    await reader.getByText('Arguments').first().waitFor()
    const headers = (await reader.request.get(url)).headers()
    expect(headers['x-robots-tag']).toBe('noindex, nofollow')

    await page.getByRole('button', { name: 'Share this conversation' }).click()
    await page.getByRole('button', { name: /^Revoke the link of/ }).click()
    await page.getByText('There is no link to this conversation.').waitFor()
    await reader.reload()
    await reader.getByRole('alert').getByText('no longer shared').waitFor()
    expect(await reader.getByText('Paris').count()).toBe(0)
    expect(errors).toEqual([])
    expect(await chat.faults()).toEqual([])
    await reader.context().close()
    await chat.close()
  })

  it('[FK5] a long conversation is read page by page', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    await chat.sendMessage('Weather in Paris')
    await chat.ended()
    await page.waitForURL(/\/t\//)
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? ''
    const share = await page.evaluate(async (threadId) => {
      const messages = Array.from({ length: 90 }, (_, index) => ({
        id: `imported-${index}`,
        role: index % 2 === 0 ? 'user' : 'assistant',
        parts: [{ type: 'text', text: `message number ${index}` }],
      }))
      await fetch('/api/import', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ threads: [{ id: `${threadId}-long`, messages }] }),
      })
      const made = await fetch(`/api/threads/${threadId}-long/shares`, { method: 'POST' })
      return (await made.json()) as { id: string }
    }, id)
    const reader = await openLink(page, `${app.server.url}/s/${share.id}`)
    await reader.getByText('message number 89', { exact: true }).waitFor()
    const asked: string[] = []
    reader.on('request', (request) => asked.push(request.url()))
    // Up again and again, as somebody does who wants the beginning.
    await reader.evaluate(async () => {
      const isThere = () =>
        [...document.querySelectorAll('.hf-user-text')].some(
          ({ textContent }) => textContent === 'message number 0',
        )
      while (!isThere()) {
        document.querySelector('.hf-scroll')?.scrollTo({ top: 0 })
        await new Promise(requestAnimationFrame)
      }
    })
    await reader.getByText('message number 0', { exact: true }).waitFor()
    expect(asked.filter((url) => url.includes('cursor=')).length).toBeGreaterThan(1)
    await reader.context().close()
    await chat.close()
  })
})

// Needs a browser, as above: see `hasBrowser`.
describe.skipIf(!hasBrowser)('sharing behind a token, in a browser', () => {
  const token = 'a-token-of-ours'
  const app = startApp({ delayMs: 0, env: { HOLDFAST_TOKEN: token } })

  it('[FK5] where the server shares nothing there is no button, and a link asks for no token', async () => {
    const context = await app.browser.newContext()
    const page = await context.newPage()
    await page.goto(`${app.server.url}/s/shr_${'a'.repeat(32)}`)
    await page.getByRole('alert').getByText('no longer shared').waitFor()
    expect(await page.getByLabel('The value of HOLDFAST_TOKEN').count()).toBe(0)
    await page.goto(app.server.url)
    await page.getByLabel('The value of HOLDFAST_TOKEN').fill(token)
    await page.keyboard.press('Enter')
    const composer = page.getByRole('textbox', { name: 'Message Holdfast…' })
    await composer.fill('hello')
    await composer.press('Enter')
    await page.locator('.hf-turn[data-status=ended]').waitFor()
    await page.getByRole('button', { name: 'Good answer' }).waitFor()
    expect(await page.getByRole('button', { name: 'Share this conversation' }).count()).toBe(0)
    await context.close()
  })
})
