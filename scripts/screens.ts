import { join } from 'node:path'
import type { Page } from 'playwright-core'
import type { AppServer } from '../test/support/app-server.ts'

type Screen = (page: Page, server: AppServer) => Promise<void>

async function sendMessage(page: Page, text: string): Promise<void> {
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

const conversation =
  (...texts: readonly string[]): Screen =>
  async (page, server) => {
    await page.goto(server.url)
    for (const [index, text] of texts.entries()) {
      await sendMessage(page, text)
      await ended(page, index + 1)
    }
  }

/** A message while a turn runs: it is there when it waits for its own. */
async function queue(page: Page, ...texts: readonly string[]): Promise<void> {
  for (const text of texts) {
    await sendMessage(page, text)
    await page.locator('.hf-queue li').getByText(text).waitFor()
  }
}

/** Sends other words in the place of a message that was sent. */
async function edit(page: Page, text: string): Promise<void> {
  await page.getByRole('button', { name: 'Edit' }).first().focus()
  await page.keyboard.press('Enter')
  await page.getByRole('textbox', { name: 'Edit' }).fill(text)
  await page.getByRole('button', { name: 'Save and send' }).click()
  await page.locator('.hf-user .hf-versions').getByText('2 / 2').waitFor()
}

async function attach(page: Page): Promise<void> {
  await page
    .locator('input[data-attach]')
    .setInputFiles([
      join(import.meta.dirname, '../docs/images/chat.png'),
      join(import.meta.dirname, '../CHANGELOG.md'),
    ])
  await page.locator('.hf-attachment[data-state=ready]').nth(1).waitFor()
}

async function mirror(page: Page): Promise<void> {
  await page.evaluate(() => {
    document.documentElement.dir = 'rtl'
  })
}

async function showList(page: Page): Promise<void> {
  const menu = page.getByRole('button', { name: 'Show the list' })
  if (await menu.isVisible()) await menu.click()
}

/** Those that happen too quickly to be seen, unless the model is slow. */
export const slowScreens: ReadonlySet<string> = new Set(['writing'])

/** The main states of the chat, each as it is reached by a person. */
export const screens = {
  empty: async (page, server) => {
    await page.goto(server.url)
    await page.locator('.app-empty').waitFor()
  },
  weather: conversation('What is the weather in Paris?'),
  opened: async (page, server) => {
    await conversation('Search my notes for coffee')(page, server)
    await page.locator('.hf-widget-toggle').click()
    await page.getByRole('button', { name: 'Timeline' }).click()
  },
  cards: conversation('What is the time in Tokyo and weather there?', 'Stock ACME'),
  afl: conversation('AFL code for a moving average'),
  failed: conversation('Fail tool', 'Provider error please'),
  many: conversation('Call 12 tools'),
  long: conversation('Write a long answer'),
  approval: async (page, server) => {
    await page.goto(server.url)
    await sendMessage(page, 'Delete notes Meeting and Ideas')
    await page.locator('.hf-approval').nth(1).waitFor()
  },
  unknown: async (page, server) => {
    await page.goto(server.url)
    await sendMessage(page, 'Charge card')
    await page.locator('[data-call-state=running], .hf-look-working').first().waitFor()
    await server.kill()
    await server.restart()
    await page.locator('.hf-unknown').waitFor()
  },
  working: async (page, server) => {
    await page.goto(server.url)
    await sendMessage(page, 'Slow tool 30')
    await page.locator('.hf-widget-text').getByText('Slow tool…').waitFor()
  },
  stopped: async (page, server) => {
    await page.goto(server.url)
    await sendMessage(page, 'Slow tool 30')
    await page.locator('.hf-widget-text').getByText('Slow tool…').waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.locator('[data-ending=stopped]').waitFor()
  },
  decided: async (page, server) => {
    await page.goto(server.url)
    await sendMessage(page, 'Delete notes A, B and C')
    await page.getByRole('button', { name: 'Reject all 3' }).click()
    await ended(page, 1)
  },
  editing: async (page, server) => {
    await conversation('What is the weather in Paris?')(page, server)
    await page.getByRole('button', { name: 'Edit' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Save and send' }).waitFor()
  },
  loading: async (page, server) => {
    await conversation('Stock ACME')(page, server)
    await page.route('**/messages?*', () => {})
    await page.reload()
    await page.locator('.hf-loading').waitFor()
    await atRest(page)
  },
  offline: async (page, server) => {
    await conversation('What is the weather in Paris?')(page, server)
    await page.context().setOffline(true)
    await page.getByText('You are offline').waitFor()
    await atRest(page)
  },
  unsent: async (page, server) => {
    await page.goto(server.url)
    await page.route('**/api/chat', (route) => route.abort())
    await sendMessage(page, 'What is the weather in Paris?')
    await page.getByText('Not sent.').waitFor()
  },
  missing: async (page, server) => {
    await page.goto(`${server.url}/t/nothing-here`)
    await page.locator('.hf-refused').waitFor()
  },
  settings: async (page, server) => {
    await page.goto(server.url)
    await page.locator('.app-empty').waitFor()
    await showList(page)
    await page.getByRole('button', { name: 'Settings' }).click()
    await page.locator('.app-tools').waitFor()
  },
  mirrored: async (page, server) => {
    await page.goto(server.url)
    await mirror(page)
    await sendMessage(page, 'ما هو الطقس؟ weather in Paris')
    await ended(page, 1)
    await sendMessage(page, 'Search my notes for coffee')
    await ended(page, 2)
    await page.locator('.hf-widget-toggle').last().click()
    await page.getByRole('button', { name: 'Timeline' }).click()
  },
  drawer: async (page, server) => {
    await conversation('Stock ACME')(page, server)
    await showList(page)
  },
  queue: async (page, server) => {
    await page.goto(server.url)
    await sendMessage(page, 'Slow tool 600')
    await page.locator('.hf-widget-text').getByText('Slow tool…').waitFor()
    const long =
      'And in Rome, Oslo, Bonn, Vienna and San Francisco, if that is not too much to ask?'
    await queue(page, 'What is the weather in Paris?', long, 'Stock ACME')
  },
  held: async (page, server) => {
    await screens.queue(page, server)
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('held back').waitFor()
    await page.locator('[data-ending=stopped]').waitFor()
  },
  revising: async (page, server) => {
    await screens.queue(page, server)
    await page.getByRole('button', { name: 'Edit message' }).first().click()
    await page.getByRole('textbox', { name: 'Edit message' }).waitFor()
    await page.getByRole('textbox', { name: /message holdfast/i }).fill('And something else')
  },
  steering: async (page, server) => {
    await page.goto(server.url)
    await sendMessage(page, 'Slow tool 2')
    await page.locator('.hf-widget-text').getByText('Slow tool…').waitFor()
    await page.getByRole('textbox', { name: /message/i }).fill('Weather in Oslo instead')
    await page.keyboard.press('Control+Enter')
    await page.locator('.hf-turn .hf-steering').waitFor()
    await ended(page, 1)
  },
  versions: async (page, server) => {
    await conversation('Charge card')(page, server)
    await edit(page, 'What is the weather in Oslo?')
    await ended(page, 1)
    await page.getByText('These stay done').waitFor()
  },
  attaching: async (page, server) => {
    await page.goto(server.url)
    await attach(page)
    await page.getByRole('textbox', { name: /message/i }).fill('What do you see?')
  },
  attached: async (page, server) => {
    await screens.attaching(page, server)
    await page.keyboard.press('Enter')
    await ended(page, 1)
    await page.locator('.hf-user img').waitFor()
  },
  picker: async (page, server) => {
    await page.goto(server.url)
    await page.getByRole('combobox', { name: 'Model' }).selectOption('demo-terse')
    await sendMessage(page, 'Hello there')
    await ended(page, 1)
    await page.locator('.hf-turn-model').waitFor()
  },
  search: async (page, server) => {
    await conversation('I like rhubarb pie', 'What is the weather in Paris?')(page, server)
    await showList(page)
    await page.getByRole('searchbox').fill('rhubarb')
    await page.locator('.app-found mark').first().waitFor()
  },
  writing: async (page, server) => {
    await page.goto(server.url)
    await sendMessage(page, 'Write a note about green tea')
    await page.locator('.card-written').getByText('What is known').waitFor()
  },
  written: conversation('Write a note about green tea'),
  progress: async (page, server) => {
    await page.goto(server.url)
    await sendMessage(page, 'Slow tool 12')
    await page.locator('.hf-progress-words').getByText('4 of 12').waitFor()
  },
  grouped: async (page, server) => {
    await conversation('Call 12 tools, one fails')(page, server)
    await page.locator('.hf-widget-toggle').click()
    await page.locator('.hf-call-group').waitFor()
  },
  'mirrored-queue': async (page, server) => {
    await page.goto(server.url)
    await mirror(page)
    await sendMessage(page, 'Call 8 tools, one fails, then wait 600')
    await page.locator('.hf-widget-toggle').click()
    await page.locator('.hf-call .hf-progress-words').getByText('1 of 600').waitFor()
    await queue(page, 'ما هو الطقس؟', 'Stock ACME')
  },
  rating: async (page, server) => {
    await conversation('Hello there')(page, server)
    await page.getByRole('button', { name: 'Bad answer' }).click()
    await page.locator('.hf-feedback-form').waitFor()
  },
  sharing: async (page, server) => {
    await conversation('What is the weather in Paris?')(page, server)
    await page.getByRole('button', { name: 'Share this conversation' }).click()
    await page.getByRole('button', { name: 'Create a link' }).click()
    await page.locator('.app-links a').waitFor()
  },
  shared: async (page, server) => {
    await screens.sharing(page, server)
    await page.goto((await page.locator('.app-links a').getAttribute('href')) ?? '')
    await page.locator('.card-weather').waitFor()
  },
  forked: async (page, server) => {
    await conversation('What is the weather in Paris?')(page, server)
    await page.getByRole('button', { name: 'Fork' }).last().click()
    await page.locator('.app-forked').waitFor()
  },
  'refused-file': async (page, server) => {
    await page.goto(server.url)
    const buffer = Buffer.from('<html></html>')
    await page
      .locator('input[data-attach]')
      .setInputFiles({ name: 'photo.png', mimeType: 'image/png', buffer })
    await page.locator('.hf-attachment[data-state=failed]').waitFor()
  },
  reconnecting: async (page, server) => {
    await conversation('What is the weather in Paris?')(page, server)
    await page.route('**/events?*', (route) => route.abort())
    await page.reload()
    await page.getByText('Reconnecting…').waitFor()
    await atRest(page)
  },
  /** A version, an approval, progress and what waits, all in one: the picture of the README. */
  conversation: async (page, server) => {
    await conversation('What is the weather in Paris?')(page, server)
    await edit(page, 'Delete note Travel while the slow tool runs for 30')
    await page.locator('.hf-approval').waitFor()
    await queue(page, 'And what is the weather in Vienna?', 'Then search my notes for coffee')
    await page.locator('.hf-progress-words').getByText('12 of 30').waitFor()
  },
} satisfies Record<string, Screen>
