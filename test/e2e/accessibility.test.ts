import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { screens } from '../../scripts/screens.ts'
import { type AppServer, startAppServer } from '../support/app-server.ts'
import { hasBrowser, openBrowser } from '../support/browser.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

describe.skipIf(!hasBrowser)('every screen', () => {
  let server: AppServer
  let browser: Browser
  beforeAll(async () => {
    server = await startAppServer({ delayMs: 0 })
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.close()
  })

  for (const [name, show] of Object.entries(screens)) {
    it(`has nothing that axe objects to, light and dark: ${name}`, async () => {
      const context = await browser.newContext({
        viewport: { width: name === 'drawer' ? 400 : 1_280, height: 800 },
        colorScheme: 'light',
        reducedMotion: 'reduce',
      })
      const page = await context.newPage()
      await show(page, server)
      const light = await objections(page)
      await page.emulateMedia({ colorScheme: 'dark' })
      expect({ light, dark: await objections(page) }).toEqual({ light: [], dark: [] })
      await context.close()
    })
  }

  it('fits a width of 360 px without a sideways scroll', async () => {
    const context = await browser.newContext({ viewport: { width: 360, height: 700 } })
    const page = await context.newPage()
    for (const name of ['empty', 'weather', 'opened', 'afl', 'long'] as const) {
      await screens[name](page, server)
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      expect({ name, overflow }).toEqual({ name, overflow: 0 })
    }
    await context.close()
  })
})

interface AxeResult {
  readonly violations: readonly {
    readonly id: string
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
  }[]
}

async function objections(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe)
  // Colours fade for a moment; what is judged is where they come to rest.
  await page.waitForFunction(() =>
    document.getAnimations().every(({ playState }) => playState !== 'running'),
  )
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: { run(): Promise<AxeResult> } }).axe.run(),
  )
  return violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.html.slice(0, 160)} ${node.failureSummary ?? ''}`),
  )
}
