// npm run screenshots: pictures of the chat in its main states, for people to look at.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { startAppServer } from '../test/support/app-server.ts'
import { openBrowser } from '../test/support/browser.ts'
import { screens, slowScreens } from './screens.ts'
import { parseScriptArguments, refuseArguments } from './script-arguments.ts'

const project = join(import.meta.dirname, '..')
const names = Object.keys(screens)
const usage = `npm run screenshots -- [FOLDER] [NAME]

Draws the chat in its main states, at three widths, light and dark, into FOLDER (screenshots), and
docs/images/chat.png (conversation) for the README. With NAME only those whose name has it:
${names.join(', ')}`
const { positionals } = parseScriptArguments({ usage, words: 2 })
const [folder = join(project, 'screenshots'), only = ''] = positionals
if (!names.some((name) => name.includes(only))) {
  refuseArguments(`No picture has "${only}" in its name.`, usage)
}
const widths = [
  { name: 'phone', width: 360, height: 740 },
  { name: 'tablet', width: 820, height: 1_100 },
  { name: 'laptop', width: 1_280, height: 800 },
] as const
const schemes = ['light', 'dark'] as const

mkdirSync(folder, { recursive: true })
const server = await startAppServer({ delayMs: 2 })
const slowServer = await startAppServer({ delayMs: 60 })
const browser = await openBrowser()
try {
  for (const size of widths) {
    for (const colorScheme of schemes) await drawAll(browser, size, colorScheme)
  }
  if ('conversation'.includes(only)) await drawReadme(browser)
} finally {
  await browser.close()
  await server.close()
  await slowServer.close()
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
    if (!name.includes(only)) continue
    const page = await openPage(opened, size, colorScheme)
    await show(page, slowScreens.has(name) ? slowServer : server)
    await leave(page)
    await page.screenshot({ path: join(folder, `${name}-${size.name}-${colorScheme}.png`) })
    await page.context().close()
  }
}

/** Nothing is under the pointer that would look otherwise for that. */
async function leave(page: Page): Promise<void> {
  await page.mouse.move(0, 0)
}

/** On a server of its own, whose list of threads looks like that of somebody who works with it. */
async function drawReadme(opened: Browser): Promise<void> {
  const fresh = await startAppServer({ delayMs: 0 })
  const page = await openPage(opened, { width: 1_200, height: 760 }, 'light')
  for (const show of [screens.afl, screens.many, screens.opened, screens.cards]) {
    await show(page, fresh)
  }
  await screens.conversation(page, fresh)
  await leave(page)
  mkdirSync(join(project, 'docs/images'), { recursive: true })
  await page.screenshot({ path: join(project, 'docs/images/chat.png') })
  await fresh.close()
}
