import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { AppServer } from '../support/app-server.ts'
import { hasBrowser } from '../support/browser.ts'
import { openChat } from './chat-page.ts'
import { startApp } from './start-app.ts'

// npm has a browser for Linux on x64 alone; elsewhere CHROMIUM names one: see `hasBrowser`.
describe.skipIf(!hasBrowser)('a chat when things go wrong', () => {
  const app = startApp({ delayMs: 8 })

  it('[CR1] [CR5] [AG8] finishes by itself when the server is killed in mid-answer and comes back, and says nothing twice', async () => {
    const chat = await openChat(app.browser, app.server.url)
    await chat.sendMessage('Write a long answer')
    await chat.page.getByRole('heading', { name: 'About folds' }).waitFor()
    await app.server.kill()
    await chat.page.getByText('Reconnecting…').waitFor()
    await app.server.restart()
    await chat.ended()
    expect(await chat.answers.last().textContent()).toContain('That was the long answer.')
    expect(await chat.page.getByText('Reconnecting…').count()).toBe(0)
    expect(await chat.page.getByRole('heading', { name: 'About folds' }).count()).toBe(1)
    expect(await chat.page.locator('[data-role=attempt]').count()).toBe(0)
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('[CR3] [CR4] asks what became of a charge that was cut off, and charges once', async () => {
    const chat = await openChat(app.browser, app.server.url)
    await chat.sendMessage('Charge card')
    await chat.widget.getByText('Charge card…').waitFor()
    await expect.poll(() => charges(app.server).length).toBe(1)
    await app.server.kill()
    await app.server.restart()
    await chat.page
      .getByRole('group', { name: 'The outcome of “Charge card” is unknown' })
      .waitFor()
    await chat.widget.getByText('Outcome unknown').waitFor()
    await chat.page.getByRole('button', { name: 'It worked' }).click()
    await chat.ended()
    expect(charges(app.server)).toHaveLength(1)
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('[CR3] [CD3] offers no choice about an outcome that a newer message has skipped', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    const before = charges(app.server).length
    await chat.sendMessage('Charge card')
    await expect.poll(() => charges(app.server).length).toBe(before + 1)
    await app.server.kill()
    await app.server.restart()
    await page.locator('.hf-unknown').waitFor()
    // A message that cannot be sent has skipped nothing.
    await page.route('**/api/chat', (route) => route.abort())
    await chat.sendMessage('Stock ACME')
    await page.getByText('Not sent.').waitFor()
    expect(await page.getByRole('button', { name: 'It worked' }).count()).toBe(1)
    await page.unroute('**/api/chat')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.locator('.card-stock').waitFor()
    expect(await page.locator('.hf-unknown').count()).toBe(0)
    await chat.widget.first().getByText('Outcome unknown').waitFor()
    await page.locator('[data-tool=charge_card]', { hasText: 'The outcome is unknown' }).waitFor()
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('[CR3] asks again when the second try is cut off too', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const before = charges(app.server).length
    await chat.sendMessage('Charge card')
    await expect.poll(() => charges(app.server).length).toBe(before + 1)
    await app.server.kill()
    await app.server.restart()
    await chat.page.getByRole('button', { name: 'Run it again' }).click()
    await expect.poll(() => charges(app.server).length).toBe(before + 2)
    await app.server.kill()
    await app.server.restart()
    await chat.page.getByRole('button', { name: 'Skip it' }).click()
    await chat.ended()
    expect(charges(app.server)).toHaveLength(before + 2)
    await chat.close()
  })

  it('[RS1] [RS2] goes on after the network was away, and says so meanwhile', async () => {
    const chat = await openChat(app.browser, app.server.url)
    await chat.sendMessage('Write a long answer')
    await chat.page.getByRole('heading', { name: 'About facts' }).waitFor()
    await chat.page.context().setOffline(true)
    await chat.page.getByText('You are offline').waitFor()
    await chat.page.context().setOffline(false)
    await chat.ended()
    expect(await chat.answers.textContent()).toContain('That was the long answer.')
    expect(await chat.page.getByText('You are offline').count()).toBe(0)
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('says that a conversation is not there, or is there no more, and takes nothing to send', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    await chat.sendMessage('Stock ACME')
    await chat.ended()
    const id = new URL(page.url()).pathname.split('/').at(-1)
    await fetch(`${app.server.url}/api/threads/${id}`, { method: 'DELETE' })
    const words = 'This conversation does not exist, or it is not yours.'
    await page.getByRole('alert').getByText(words).waitFor()
    expect(await page.locator('.card-stock').count()).toBe(1)
    expect(await chat.composer.count()).toBe(0)
    await page.reload()
    await page.getByRole('alert').getByText(words).waitFor()
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Not found')
    expect(await chat.composer.count()).toBe(0)
    await chat.close()
  })

  it('[LG6] keeps a message that could not be sent through a reload, and sends it once', async () => {
    const chat = await openChat(app.browser, app.server.url)
    await chat.sendMessage('Stock ACME')
    await chat.ended()
    await chat.page.route('**/api/chat', (route) => route.abort())
    await chat.sendMessage('Stock HOLD')
    await chat.page.getByText('Not sent.').waitFor()
    await chat.page.unroute('**/api/chat')
    await chat.page.reload()
    await chat.page.getByText('Not sent.').waitFor()
    await chat.page.getByRole('button', { name: 'Try again' }).click()
    await chat.ended(2)
    expect(await chat.page.locator('.hf-user').count()).toBe(2)
    await chat.close()
  })

  it('[LG6] keeps a message that was in flight when the page was left, and sends it once', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    // Held, and not let go before the page is left: then it would arrive after all.
    let isHeld = true
    await page.route('**/api/chat', async (route) => {
      if (!isHeld) await route.continue()
    })
    await chat.sendMessage('Stock ACME')
    await page.locator('[data-pending=sending]').waitFor()
    isHeld = false
    await page.reload()
    await page.getByRole('button', { name: 'Try again' }).click()
    await chat.ended()
    expect(await page.locator('.hf-user').count()).toBe(1)
    await page.reload()
    await chat.ended()
    expect(await page.getByText('Not sent.').count()).toBe(0)
    await chat.close()
  })

  it('keeps what is being written through a reload', async () => {
    const chat = await openChat(app.browser, app.server.url)
    await chat.composer.fill('Half a')
    await chat.composer.press('Shift+Enter')
    await chat.composer.pressSequentially('thought')
    await chat.page.reload()
    expect(await chat.composer.inputValue()).toBe('Half a\nthought')
    await chat.close()
  })

  it('[RS1] [CD1] shows the same after a visit to another thread in mid-answer', async () => {
    const chat = await openChat(app.browser, app.server.url)
    await chat.sendMessage('Stock ACME')
    await chat.ended()
    const first = chat.page.url()
    await chat.page.getByRole('button', { name: 'New chat' }).click()
    await chat.sendMessage('Write a long answer')
    await chat.page.getByRole('heading', { name: 'About facts' }).waitFor()
    const second = chat.page.url()
    await chat.page.locator(`a[href="${new URL(first).pathname}"]`).click()
    await chat.page.locator('.card-stock').waitFor()
    await chat.page.locator(`a[href="${new URL(second).pathname}"]`).click()
    await chat.ended()
    expect(await chat.answers.textContent()).toContain('That was the long answer.')
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })
})

const charges = ({ folder }: AppServer): readonly string[] => {
  try {
    return readFileSync(join(folder, 'charges.log'), 'utf8').trim().split('\n')
  } catch {
    // No charge yet.
    return []
  }
}
