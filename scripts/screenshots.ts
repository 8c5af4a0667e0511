// node scripts/screenshots.ts [FOLDER]: pictures of the chat in its main states, at three widths, light
// and dark, for people to look at; and docs/images/chat.png for the README.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { startAppServer } from '../test/support/app-server.ts'
import { openBrowser } from '../test/support/browser.ts'
import { screens } from './screens.ts'

const project = join(import.meta.dirname, '..')
const folder = process.argv[2] ?? join(project, 'screenshots')
const only = process.argv[3]
const widths = [
  { name: 'phone', width: 360, height: 740 },
  { name: 'laptop', width: 1_280, height: 800 },
  { name: 'wide', width: 2_200, height: 1_200 },
] as const
const schemes = ['light', 'dark'] as const

mkdirSync(folder, { recursive: true })
const server = await startAppServer({ delayMs: 2 })
const browser = await openBrowser()
try {
  for (const size of widths) {
    for (const colorScheme of schemes) await drawAll(browser, size, colorScheme)
  }
  await drawReadme(browser)
} finally {
  await browser.close()
  await server.close()
}

async function openPage(
  opened: Browser,
  size: { readonly width: number; readonly height: number },
  colorScheme: 'light' | 'dark',
): Promise<Page> {
  const context = await opened.newContext({
    viewport: { width: size.width, height: size.height },
    colorScheme,
    reducedMotion: 'reduce',
    hasTouch: size.width < 600,
    isMobile: size.width < 600,
  })
  return context.newPage()
}

async function drawAll(
  opened: Browser,
  size: (typeof widths)[number],
  colorScheme: 'light' | 'dark',
): Promise<void> {
  for (const [name, show] of Object.entries(screens)) {
    if (only !== undefined && !name.includes(only)) continue
    const page = await openPage(opened, size, colorScheme)
    await show(page, server)
    await page.screenshot({ path: join(folder, `${name}-${size.name}-${colorScheme}.png`) })
    await page.context().close()
  }
}

/** On a server of its own, whose list of threads looks like that of somebody who works with it. */
async function drawReadme(opened: Browser): Promise<void> {
  const fresh = await startAppServer({ delayMs: 0 })
  const page = await openPage(opened, { width: 1_200, height: 760 }, 'light')
  for (const show of [screens.afl, screens.many, screens.opened, screens.cards, screens.weather]) {
    await show(page, fresh)
  }
  mkdirSync(join(project, 'docs/images'), { recursive: true })
  await page.screenshot({ path: join(project, 'docs/images/chat.png') })
  await fresh.close()
}
