import type { Page } from 'playwright-core'
import type { AppServer } from '../test/support/app-server.ts'

type Screen = (page: Page, server: AppServer) => Promise<void>

async function ask(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: /message/i }).fill(text)
  await page.keyboard.press('Enter')
}

async function ended(page: Page, turns: number): Promise<void> {
  await page
    .locator('[data-status=ended]')
    .nth(turns - 1)
    .waitFor()
}

/** What appears only after a while has appeared. */
async function atRest(page: Page): Promise<void> {
  await page.waitForFunction(() =>
    document.getAnimations().every(({ playState }) => playState !== 'running'),
  )
}

const asking =
  (...texts: readonly string[]): Screen =>
  async (page, server) => {
    await page.goto(server.url)
    for (const [index, text] of texts.entries()) {
      await ask(page, text)
      await ended(page, index + 1)
    }
  }

/** The main states of the chat, each as it is reached by a person. */
export const screens = {
  empty: async (page, server) => {
    await page.goto(server.url)
    await page.locator('.app-empty').waitFor()
  },
  weather: asking('What is the weather in Paris?'),
  opened: async (page, server) => {
    await asking('Search my notes for coffee')(page, server)
    await page.locator('.hf-widget-toggle').click()
    await page.getByRole('button', { name: 'Timeline' }).click()
  },
  cards: asking('What is the time in Tokyo and weather there?', 'Stock ACME'),
  afl: asking('AFL code for a moving average'),
  failed: asking('Fail tool', 'Provider error please'),
  many: asking('Call 12 tools'),
  long: asking('Write a long answer'),
  approval: async (page, server) => {
    await page.goto(server.url)
    await ask(page, 'Delete notes Meeting and Ideas')
    await page.locator('.hf-approval').nth(1).waitFor()
  },
  unknown: async (page, server) => {
    await page.goto(server.url)
    await ask(page, 'Charge card')
    await page.locator('[data-call-state=running], .hf-look-working').first().waitFor()
    await server.kill()
    await server.restart()
    await page.locator('.hf-unknown').waitFor()
  },
  working: async (page, server) => {
    await page.goto(server.url)
    await ask(page, 'Slow tool 30')
    await page.getByText('Slow tool…').waitFor()
  },
  stopped: async (page, server) => {
    await page.goto(server.url)
    await ask(page, 'Slow tool 30')
    await page.getByText('Slow tool…').waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.locator('[data-ending=stopped]').waitFor()
  },
  decided: async (page, server) => {
    await page.goto(server.url)
    await ask(page, 'Delete notes A, B and C')
    await page.getByRole('button', { name: 'Reject all 3' }).click()
    await ended(page, 1)
  },
  editing: async (page, server) => {
    await asking('What is the weather in Paris?')(page, server)
    await page.getByRole('button', { name: 'Edit' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Save and send' }).waitFor()
  },
  loading: async (page, server) => {
    await asking('Stock ACME')(page, server)
    await page.route('**/messages?*', () => {})
    await page.reload()
    await page.locator('.hf-loading').waitFor()
    await atRest(page)
  },
  offline: async (page, server) => {
    await asking('What is the weather in Paris?')(page, server)
    await page.context().setOffline(true)
    await page.getByText('You are offline').waitFor()
    await atRest(page)
  },
  unsent: async (page, server) => {
    await page.goto(server.url)
    await page.route('**/api/chat', (route) => route.abort())
    await ask(page, 'What is the weather in Paris?')
    await page.getByText('Not sent.').waitFor()
  },
  missing: async (page, server) => {
    await page.goto(`${server.url}/t/nothing-here`)
    await page.locator('.hf-refused').waitFor()
  },
  settings: async (page, server) => {
    await page.goto(server.url)
    await page.locator('.app-empty').waitFor()
    const menu = page.getByRole('button', { name: 'Show the list' })
    if (await menu.isVisible()) await menu.click()
    await page.getByRole('button', { name: 'Settings' }).click()
    await page.locator('.app-tools').waitFor()
  },
  mirrored: async (page, server) => {
    await page.goto(server.url)
    await page.evaluate(() => {
      document.documentElement.dir = 'rtl'
    })
    await ask(page, 'ما هو الطقس؟ weather in Paris')
    await ended(page, 1)
    await ask(page, 'Search my notes for coffee')
    await ended(page, 2)
    await page.locator('.hf-widget-toggle').last().click()
    await page.getByRole('button', { name: 'Timeline' }).click()
  },
  drawer: async (page, server) => {
    await asking('Stock ACME')(page, server)
    const menu = page.getByRole('button', { name: 'Show the list' })
    if (await menu.isVisible()) await menu.click()
  },
} satisfies Record<string, Screen>
