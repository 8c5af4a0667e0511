import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { buildPage, type BuiltPage } from '../support/built-page.ts'
import { openChat } from './chat-page.ts'
import { startApp } from './start-app.ts'

// npm has a browser for Linux on x64 alone; elsewhere CHROMIUM names one: see `hasBrowser`.
describe.skipIf(!hasBrowser)('the widgets over the messages of useChat', () => {
  const app = startApp({ delayMs: 2 })
  let built: BuiltPage
  beforeAll(async () => {
    built = await buildPage({ root: join(import.meta.dirname, 'use-chat-page') })
  })
  afterAll(() => built?.remove())

  it('[RS3] [CD1] [CO3] show its tools while they stream, and the same after a reload', async () => {
    const chat = await openChat(app.browser, `${app.server.url}/streams?new`, { built })
    await chat.sendMessage('Search my notes for coffee')
    await chat.ended()
    // A message of useChat does not say when its tools ran, so nor do the widgets.
    expect(await chat.widget.textContent()).toBe('Used 3 tools')
    await chat.sendMessage('weather in Paris')
    await chat.ended(2)
    expect(await chat.page.locator('.city-card').textContent()).toBe('Paris')
    await chat.widget.first().click()
    expect(await chat.page.locator('.hf-commentary').allTextContents()).toEqual([
      'Let me search your notes for “coffee”.',
      'I found 2 notes. Let me read what stands there.',
    ])
    await chat.widget.first().click()
    const live = await shownIn(chat.page)
    await chat.page.goto(`${app.server.url}/streams`)
    await chat.ended(2)
    expect(await shownIn(chat.page)).toEqual(live)
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('[RS3] carry on with a turn that a reload broke into', async () => {
    const chat = await openChat(app.browser, `${app.server.url}/broken-into?new`, { built })
    await chat.sendMessage('Slow tool 2')
    await chat.widget.getByText('Slow tool…').waitFor()
    await chat.page.goto(`${app.server.url}/broken-into`)
    await chat.widget.getByText('Slow tool…').waitFor()
    await chat.ended()
    await chat.widget.getByText('Used 1 tool').waitFor()
    expect(await chat.page.locator('.hf-turn').count()).toBe(1)
    await chat.close()
  })

  it('[AP4] [CD3] take an answer to each approval, and show arguments that cannot be edited', async () => {
    const chat = await openChat(app.browser, `${app.server.url}/asks?new`, { built })
    const { page } = chat
    await chat.sendMessage('Delete notes Travel and Ideas')
    const forms = page.locator('.hf-approval')
    await forms.nth(1).waitFor()
    expect(await forms.first().getByLabel('title').isDisabled()).toBe(true)
    expect(await page.locator('.hf-decide-all').count()).toBe(0)
    await forms.first().getByRole('button', { name: 'Accept' }).click()
    await forms
      .filter({ hasNot: page.locator('[disabled].hf-button') })
      .last()
      .waitFor()
    const travel = page.getByRole('group', { name: /Ideas/ })
    await travel.getByLabel(/^Reason/).fill('I need it')
    await travel.getByRole('button', { name: 'Reject' }).click()
    await chat.ended()
    expect(await chat.answers.textContent()).toContain('I deleted the note “Travel”.')
    expect(await chat.answers.textContent()).toContain('You said: I need it')
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })
})

const shownIn = (page: Page): Promise<readonly string[]> =>
  page.locator('.hf-turn').allTextContents()
