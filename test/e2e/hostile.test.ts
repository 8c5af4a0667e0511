import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { openChat } from './chat-page.ts'
import { startApp } from './start-app.ts'

const attack = '<img src=x onerror="hacked=1"><script>hacked=1</script>'
const links =
  '[one](javascript:hacked=1) [two](JaVaScRiPt:hacked=1) [three](data:text/html,<script>hacked=1</script>) ' +
  '![four](https://example.com/pixel.png) <a href="javascript:hacked=1">five</a> [six](//example.com) [seven](&#106;avascript:hacked=1)'

// npm has a browser for Linux on x64 alone; elsewhere CHROMIUM names one: see `hasBrowser`.
describe.skipIf(!hasBrowser)('hostile content', () => {
  const app = startApp({ delayMs: 0 })

  const wasHacked = (page: Awaited<ReturnType<typeof openChat>>['page']) =>
    page.evaluate(() => 'hacked' in globalThis)

  it('[HT5] does nothing in a message, an answer and a title', async () => {
    const chat = await openChat(app.browser, app.server.url)
    await chat.sendMessage(`${attack} ${links}`)
    await chat.ended()
    expect(await chat.page.locator('.hf-turn img, .hf-turn script').count()).toBe(0)
    const hrefs = await chat.page
      .locator('.hf-turn a')
      .evaluateAll((all) => all.map((each) => each.getAttribute('href')))
    expect(hrefs).toEqual(['https://example.com/pixel.png'])
    expect(await chat.page.title()).toContain('<img')
    for (const link of await chat.page.locator('.hf-turn :text("one")').all()) await link.click()
    expect(await wasHacked(chat.page)).toBe(false)
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('[HT5] does nothing in a result that a card draws', async () => {
    const chat = await openChat(app.browser, app.server.url)
    await chat.sendMessage(`weather in ${attack}`)
    await chat.ended()
    expect(await chat.page.locator('.card-weather h3').textContent()).toContain('<img')
    await chat.sendMessage(`AFL code for ${attack}`)
    await chat.ended(2)
    await chat.widget.last().click()
    for (const fold of await chat.page.locator('.hf-fold > summary').all()) await fold.click()
    expect(await chat.page.locator('.hf-turn img, .hf-turn script').count()).toBe(0)
    expect(await wasHacked(chat.page)).toBe(false)
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('[HT5] [LG9] shows a line of a megabyte, and text that turns its direction, without harm', async () => {
    const chat = await openChat(app.browser, app.server.url)
    await chat.sendMessage('weather in Paris')
    await chat.ended()
    const huge = 'x'.repeat(1_000_000)
    const turned = '\u202Egnp.exe'
    await chat.page.route('**/messages?format=ledger*', async (route) => {
      const response = await route.fetch()
      const text = await response.text()
      await route.fulfill({
        response,
        body: text
          .replaceAll('"Sunny"', JSON.stringify(huge))
          .replaceAll('"Paris"', JSON.stringify(turned)),
      })
    })
    await chat.page.reload()
    await chat.ended()
    await chat.widget.click()
    for (const fold of await chat.page.locator('.hf-fold > summary').all()) await fold.click()
    await chat.page.getByText('more characters').first().waitFor()
    const overflow = await chat.page.evaluate(
      () => document.documentElement.scrollWidth - innerWidth,
    )
    expect(overflow).toBe(0)
    expect(await chat.page.locator('.card-weather h3 bdi').textContent()).toBe(turned)
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })
})
