import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { chatIn, type ChatPage, openChat } from './chat-page.ts'
import { tabTo } from './tab-to.ts'
import { startApp } from './start-app.ts'

// npm has a browser for Linux on x64 alone; elsewhere CHROMIUM names one: see `hasBrowser`.
describe.skipIf(!hasBrowser)('an approval in a browser', () => {
  const app = startApp({ delayMs: 2 })

  it('[AP2] [CD3] is decided once by two tabs at once, and both say by whom', async () => {
    const first = await openChat(app.browser, app.server.url)
    await first.sendMessage('Delete note Travel')
    await first.page.locator('.hf-approval').waitFor()
    await first.page.waitForURL(/\/t\//)
    const second = await chatIn(await first.page.context().newPage(), first.page.url())
    await second.page.locator('.hf-approval').waitFor()
    // Neither goes to the server before both have been made: one that wins takes away the other's button.
    let clicks = 0
    const both = Promise.withResolvers<void>()
    for (const { page } of [first, second]) {
      await page.route(/\/decisions?$/, async (route) => {
        if (++clicks === 2) both.resolve()
        await both.promise
        await route.continue()
      })
    }
    await Promise.all([
      first.page.getByRole('button', { name: 'Accept' }).click(),
      second.page.getByRole('button', { name: 'Reject' }).click(),
    ])
    await Promise.all([first.ended(), second.ended()])
    expect(clicks).toBe(2)
    const notes = [first, second].map((chat) => chat.page.locator('.hf-decision').first())
    const said = await Promise.all(notes.map((note) => note.textContent()))
    expect(said[0]).toMatch(/^(Accepted|Rejected) by you$/)
    expect(said[1]).toBe(said[0])
    expect(await second.answers.textContent()).toBe(await first.answers.textContent())
    expect([...(await first.faults()), ...(await second.faults())]).toEqual([])
    await first.close()
  })

  it('[AP3] runs with the arguments that a person edited', async () => {
    const chat = await openChat(app.browser, app.server.url)
    await chat.sendMessage('Delete note Nothing')
    const form = chat.page.locator('.hf-approval')
    await form.getByLabel('title').fill('Groceries')
    await form.getByRole('button', { name: 'Accept' }).click()
    await chat.ended()
    await chat.answers.getByText('I deleted the note “Groceries”.').waitFor()
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('[AP3] says where arguments do not fit, and still waits', async () => {
    const chat = await openChat(app.browser, app.server.url)
    await chat.sendMessage('Delete note Reading')
    const form = chat.page.locator('.hf-approval')
    await form.getByLabel('title').fill('')
    await form.getByRole('button', { name: 'Accept' }).click()
    await form.getByRole('alert').waitFor()
    expect(await form.count()).toBe(1)
    await chat.close()
  })

  it('[AP4] [CD3] is rejected with a reason by keyboard alone, never by Enter in the composer', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    await chat.composer.pressSequentially('Delete note Ideas')
    await page.keyboard.press('Enter')
    await page.locator('.hf-approval').waitFor()
    await page.keyboard.press('Enter')
    expect(await page.locator('.hf-approval').count()).toBe(1)
    await tabTo(page, 'Reason, if you reject (the assistant sees it)', 'Shift+Tab')
    await page.keyboard.type('I need it')
    await page.keyboard.press('Enter')
    expect(await page.locator('.hf-approval').count()).toBe(1)
    await tabTo(page, 'Reject', 'Tab')
    await page.keyboard.press('Enter')
    await chat.ended()
    expect(await chat.answers.textContent()).toContain('You said: I need it')
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('[AP6] answers all that wait at once', async () => {
    const chat = await openChat(app.browser, app.server.url)
    await chat.sendMessage('Delete notes A, B and C')
    await chat.page.getByRole('button', { name: 'Reject all 3' }).click()
    await chat.ended()
    expect(await chat.page.locator('.hf-decision[data-decision=rejected]').count()).toBe(3)
    await chat.widget.getByText('Declined').waitFor()
    // The forms were taller than the screen. What is left is not, so there is nothing to jump to.
    await expect.poll(() => chat.page.getByRole('button', { name: 'Latest' }).count()).toBe(0)
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })
})

// Needs a browser, as above: see `hasBrowser`.
describe.skipIf(!hasBrowser)('an approval with several arguments', () => {
  const app = startApp({ config: 'test/e2e/odd-tools.config.ts' })
  const results = (chat: ChatPage) => chat.page.locator('.hf-generic')
  const open = async (text: string) => {
    const viewport = { width: 390, height: 780 }
    const chat = await openChat(app.browser, app.server.url, { viewport })
    await chat.sendMessage(text)
    await chat.page.locator('.hf-approval').last().waitFor()
    return chat
  }

  it('[AP3] is not accepted while a field is half typed, and then runs with what it shows', async () => {
    const chat = await open('pay')
    const form = chat.page.locator('.hf-approval')
    const accept = form.getByRole('button', { name: 'Accept' })
    for (const [field, half, whole] of [
      ['items', '["tea", "mi', '["tea", "milk"]'],
      ['amount', '1e', '1e2'],
    ] as const) {
      await form.getByLabel(field).fill('')
      await form.getByLabel(field).pressSequentially(half)
      await accept.click()
      await form.getByRole('alert').getByText('Nothing was accepted').waitFor()
      expect(await form.getByLabel(field).getAttribute('aria-invalid')).toBe('true')
      await form.getByLabel(field).pressSequentially(whole.slice(half.length))
      expect(await form.getByLabel(field).getAttribute('aria-invalid')).toBe('false')
    }
    await accept.click()
    await chat.ended()
    await results(chat).locator('summary').click()
    await results(chat).getByText('ACME 100 undefined tea+milk').waitFor()
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('[AP3] [CD3] shows all of a long text, and no choice that was not made', async () => {
    const chat = await open('pay')
    const form = chat.page.locator('.hf-approval')
    const purpose = form.getByLabel('purpose')
    expect(
      await purpose.evaluate((field) => [
        field.scrollWidth <= field.clientWidth,
        field.scrollHeight <= field.clientHeight,
      ]),
    ).toEqual([true, true])
    const currency = form.getByLabel('currency')
    expect(await currency.inputValue()).toBe('')
    await currency.selectOption('USD')
    await form.getByRole('button', { name: 'Accept' }).click()
    await chat.ended()
    await results(chat).locator('summary').click()
    await results(chat).getByText('ACME 120.5 USD tea').waitFor()
    await chat.close()
  })

  it('[AP3] [AP6] accepts all of them as they are shown', async () => {
    const chat = await open('pay both')
    const second = chat.page.locator('.hf-approval').nth(1)
    const acceptAll = chat.page.getByRole('button', { name: 'Accept all 2' })
    await second.getByLabel('items').fill('[')
    await acceptAll.click()
    await chat.page.getByRole('alert').getByText('Nothing was accepted').waitFor()
    await second.getByLabel('items').fill('["ink"]')
    await second.getByLabel('amount').fill('7')
    await acceptAll.click()
    await chat.ended()
    for (const result of await results(chat).all()) await result.locator('summary').click()
    await results(chat).getByText('ACME 120.5 undefined tea').waitFor()
    await results(chat).getByText('Initech 7 undefined ink').waitFor()
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })
})
