import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { screens } from '../../scripts/screens.ts'
import { hasBrowser } from '../support/browser.ts'
import { startApp } from './start-app.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

// npm has a browser for Linux on x64 alone; elsewhere CHROMIUM names one: see `hasBrowser`.
describe.skipIf(!hasBrowser)('every screen', () => {
  // From the sources: all that the app shows is seen to work as `npm start` runs it.
  const app = startApp({ delayMs: 0, fromSources: true })

  for (const [name, show] of Object.entries(screens)) {
    it(`has nothing that axe objects to, light and dark: ${name}`, async () => {
      const context = await app.browser.newContext({
        viewport: { width: name === 'drawer' ? 400 : 1_280, height: 800 },
        colorScheme: 'light',
        reducedMotion: 'reduce',
      })
      const page = await context.newPage()
      await show(page, app.server)
      await page.evaluate(axe)
      const light = await objections(page)
      await page.emulateMedia({ colorScheme: 'dark' })
      // All that the dark scheme changes are colours.
      const dark = await objections(page, 'color-contrast')
      expect({ light, dark }).toEqual({ light: [], dark: [] })
      await context.close()
    })
  }

  it('[UX4] moves nothing for those who do not want it, and something for the others', async () => {
    for (const reducedMotion of ['reduce', 'no-preference'] as const) {
      const context = await app.browser.newContext({ reducedMotion })
      const page = await context.newPage()
      await page.goto(app.server.url)
      await page.getByRole('textbox', { name: /message/i }).fill('Slow tool 30')
      await page.keyboard.press('Enter')
      await page.locator('.hf-spinner').first().waitFor()
      const moving = () =>
        page.evaluate(() =>
          document
            .getAnimations()
            .filter(({ playState, effect }) => {
              const { iterations, duration } = effect?.getComputedTiming() ?? {}
              return playState === 'running' && (iterations === Infinity || Number(duration) > 1)
            })
            .map((animation) => (animation as CSSAnimation).animationName),
        )
      if (reducedMotion === 'reduce') await expect.poll(moving).toEqual([])
      else expect(await moving()).toContain('hf-turn')
      await page.getByRole('button', { name: 'Stop' }).click()
      await page.locator('[data-ending=stopped]').waitFor()
      await context.close()
    }
  })

  it('[UX3] announces what it is at to a screen reader now and then, and an answer once', async () => {
    const context = await app.browser.newContext()
    const page = await context.newPage()
    await page.addInitScript(recordAnnouncements)
    await page.goto(app.server.url)
    const announced = () =>
      page.evaluate(() => (globalThis as unknown as { announced: readonly string[] }).announced)
    const sendMessage = async (text: string) => {
      await page.getByRole('textbox', { name: /message/i }).fill(text)
      await page.keyboard.press('Enter')
    }
    await sendMessage('Search my notes for coffee')
    await page.locator('[data-status=ended]').waitFor()
    // Three tools came and went in a moment: not each of them is worth a word.
    await expect.poll(async () => (await announced()).at(-1)).toContain('coffee')
    expect((await announced()).length).toBeLessThan(5)
    const before = (await announced()).length
    await sendMessage('Write a long answer')
    await page.locator('[data-status=ended]').nth(1).waitFor()
    await expect.poll(async () => (await announced()).at(-1)).toMatch(/^# A long answer/)
    expect((await announced()).length - before).toBeLessThan(4)
    await sendMessage('Delete note Travel')
    await expect.poll(async () => (await announced()).at(-1)).toBe('Allow “Delete note”?')
    await context.close()
  })

  it('fits a width of 360 px without a sideways scroll', async () => {
    const context = await app.browser.newContext({ viewport: { width: 360, height: 700 } })
    const page = await context.newPage()
    for (const name of ['empty', 'weather', 'opened', 'afl', 'long'] as const) {
      await screens[name](page, app.server)
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      expect({ name, overflow }).toEqual({ name, overflow: 0 })
    }
    await context.close()
  })
})

/** Runs in the page before anything else and writes down what its live regions say, each time that it is something else. */
function recordAnnouncements(): void {
  const announced: string[] = []
  Object.assign(globalThis, { announced })
  const known = new WeakMap<Element, string>()
  new MutationObserver(() => {
    for (const region of document.querySelectorAll('[aria-live], [role=alert], output')) {
      const words = region.textContent.trim()
      // A region that comes into the page with words in it is not read out.
      const before = known.get(region) ?? words
      if (words !== before && words !== '') announced.push(words)
      known.set(region, words)
    }
  }).observe(document, { subtree: true, childList: true, characterData: true })
}

interface AxeResult {
  readonly violations: readonly {
    readonly id: string
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
  }[]
}

async function objections(page: Page, ...rules: readonly string[]): Promise<readonly string[]> {
  // Colours fade for a moment; what is judged is where they come to rest.
  await page.waitForFunction(() =>
    document.getAnimations().every(({ playState }) => playState !== 'running'),
  )
  const { violations } = await page.evaluate(
    (only) =>
      (globalThis as unknown as { axe: { run(options: object): Promise<AxeResult> } }).axe.run({
        // Every rule runs; what is not objected to is merely not described.
        resultTypes: ['violations'],
        ...(only.length === 0 ? {} : { runOnly: { type: 'rule', values: only } }),
      }),
    rules,
  )
  return violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.html.slice(0, 160)} ${node.failureSummary ?? ''}`),
  )
}
