import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import type { BuiltPage } from '../support/built-page.ts'
import { watchPage } from './watch-page.ts'

/** A tab with the chat in it, and the words that the tests use for what is there. */
export interface ChatPage {
  readonly page: Page
  readonly composer: Locator
  readonly answers: Locator
  readonly widget: Locator
  sendMessage(text: string): Promise<void>
  /** Waits until so many turns have ended. */
  ended(turns?: number): Promise<void>
  /** What was seen on the way and must not be: text that shrank, a call that went back, an error. */
  faults(): Promise<readonly string[]>
  close(): Promise<void>
}

export interface OpenChatOptions extends BrowserContextOptions {
  /** Shown in place of the app's own page. */
  readonly built?: BuiltPage
}

export async function openChat(
  browser: Browser,
  url: string,
  { built, ...options }: OpenChatOptions = {},
): Promise<ChatPage> {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options })
  // To end a hang, not to measure: a busy machine may need most of this.
  context.setDefaultTimeout(60_000)
  await built?.showIn(context)
  return chatIn(await context.newPage(), url)
}

export async function chatIn(page: Page, url: string): Promise<ChatPage> {
  const errors: string[] = []
  const origin = new URL(url).origin
  page.on('pageerror', (error) => errors.push(`error: ${error.message}`))
  page.on('console', (message) => {
    // What a network that is down looks like is not a fault of the page.
    if (message.type() === 'error' && !message.text().includes('Failed to load resource')) {
      errors.push(`console: ${message.text()}`)
    }
  })
  page.on('request', (request) => {
    const { protocol, origin: asked } = new URL(request.url())
    if (protocol.startsWith('http') && asked !== origin) errors.push(`asked ${request.url()}`)
  })
  await page.addInitScript(watchPage)
  await page.goto(url)
  const composer = page.getByRole('textbox', { name: 'Message Holdfast…' })
  await composer.waitFor()
  return {
    page,
    composer,
    answers: page.locator('[data-role=answer]'),
    widget: page.locator('.hf-widget-toggle'),
    async sendMessage(text) {
      await composer.fill(text)
      await composer.press('Enter')
    },
    async ended(turns = 1) {
      await page
        .locator('.hf-turn[data-status=ended]')
        .nth(turns - 1)
        .waitFor()
    },
    async faults() {
      const seen = await page.evaluate(() => (globalThis as { faults?: string[] }).faults ?? [])
      return [...errors, ...seen]
    },
    close: () => page.context().close(),
  }
}
