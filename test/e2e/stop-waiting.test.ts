import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { chatIn, openChat } from './chat-page.ts'
import { startApp } from './start-app.ts'
import { tabTo } from './tab-to.ts'

// npm has a browser for Linux on x64 alone; elsewhere CHROMIUM names one: see `hasBrowser`.
describe.skipIf(!hasBrowser)('a turn that waits, in a browser', () => {
  const app = startApp({ delayMs: 2 })

  it('[ST1a] is stopped by keyboard while approvals wait, and what is half typed stays', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    await chat.sendMessage('Delete notes Meeting and Ideas')
    await page.locator('.hf-approval').nth(1).waitFor()
    await chat.composer.pressSequentially('And then')
    await tabTo(page, 'Stop', 'Tab')
    await page.keyboard.press('Enter')
    await page.locator('[data-ending=stopped]').waitFor()
    expect(await page.locator('.hf-approval').count()).toBe(0)
    await chat.widget.getByText('Stopped').waitFor()
    expect(await page.getByRole('button', { name: 'Stop', exact: true }).count()).toBe(0)
    expect(await chat.composer.inputValue()).toBe('And then')
    await page.waitForFunction(() => document.activeElement?.tagName === 'TEXTAREA')
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('[ST1a] can be answered with a message instead: Stop stands beside Send', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    await chat.sendMessage('Delete note Travel')
    await page.locator('.hf-approval').waitFor()
    await chat.composer.fill('Stock ACME')
    expect(await page.getByRole('button', { name: 'Stop', exact: true }).isVisible()).toBe(true)
    await page.getByRole('button', { name: 'Send' }).click()
    await chat.ended(2)
    expect(await page.getByRole('button', { name: 'Stop', exact: true }).count()).toBe(0)
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('[ST1a] [ST1] is stopped after a reload, and a second tab shows it', async () => {
    const first = await openChat(app.browser, app.server.url)
    await first.sendMessage('Delete note Reading')
    await first.page.locator('.hf-approval').waitFor()
    await first.page.waitForURL(/\/t\//)
    const second = await chatIn(await first.page.context().newPage(), first.page.url())
    await first.page.reload()
    await first.page.getByRole('button', { name: 'Stop', exact: true }).click()
    for (const { page } of [first, second]) {
      await page.locator('[data-ending=stopped]').waitFor()
      expect(await page.locator('.hf-approval').count()).toBe(0)
    }
    expect([...(await first.faults()), ...(await second.faults())]).toEqual([])
    await first.close()
  })

  it('[ST1a] still waits when the stop does not get through, and says so', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    await chat.sendMessage('Delete note Groceries')
    await page.locator('.hf-approval').waitFor()
    await page.route('**/stop', (route) => route.abort())
    await page.getByRole('button', { name: 'Stop', exact: true }).click()
    await page.locator('.hf-composer').getByRole('alert').waitFor()
    expect(await page.locator('.hf-approval').count()).toBe(1)
    await page.unroute('**/stop')
    await page.getByRole('button', { name: 'Stop', exact: true }).click()
    await page.locator('[data-ending=stopped]').waitFor()
    expect(await page.locator('.hf-composer').getByRole('alert').count()).toBe(0)
    await chat.close()
  })

  it('[ST1a] [CR3] is stopped while nobody knows how a call ended', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    await chat.sendMessage('Charge card')
    await page.locator('.hf-widget-text').getByText('Charge card…').waitFor()
    await app.server.kill()
    await app.server.restart()
    await page.locator('.hf-unknown').waitFor()
    await page.getByRole('button', { name: 'Stop', exact: true }).click()
    await page.locator('[data-ending=stopped]').waitFor()
    await chat.close()
  })
})
