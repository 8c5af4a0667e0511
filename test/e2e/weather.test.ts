import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startAppServer } from '../support/app-server.ts'
import { hasBrowser, openBrowser } from '../support/browser.ts'
import { startWeatherServer } from '../support/weather-service.ts'
import { openChat } from './chat-page.ts'

// npm has a browser for Linux on x64 alone; elsewhere CHROMIUM names one: see `hasBrowser`.
describe.skipIf(!hasBrowser)('the weather card', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  it('[CD2] says that its data is made up, unless a service is configured: then where it is from', async () => {
    const demo = await startAppServer({ delayMs: 0, env: { HOLDFAST_WEATHER_URL: '' } })
    const made = await openChat(browser, demo.url)
    await made.sendMessage('weather in Paris')
    await made.ended()
    await made.page.locator('.card-weather').getByText('Demo data, not real').waitFor()
    expect(await made.answers.textContent()).toContain('(demo data)')
    await made.close()
    await demo.close()

    const service = await startWeatherServer()
    const live = await startAppServer({ delayMs: 0, env: { HOLDFAST_WEATHER_URL: service.url } })
    const chat = await openChat(browser, live.url)
    await chat.sendMessage('weather in Paris')
    await chat.ended()
    const card = chat.page.locator('.card-weather')
    const { host } = new URL(service.url)
    await card.getByText(`Live, from ${host}`).waitFor()
    expect(await card.locator('.card-weather-now').textContent()).toBe('11°')
    expect(await chat.answers.textContent()).toBe(
      `It is 11.4 °C and rain in Paris (live, from ${host}).`,
    )
    expect(await chat.faults()).toEqual([])

    await chat.sendMessage('weather in Atlantis')
    await chat.ended(2)
    await chat.page.locator('[data-call-state=failed]', { hasText: 'Atlantis' }).waitFor()
    await chat.close()
    await live.close()
    await service.close()
  })
})
