import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { chatIn } from '../e2e/chat-page.ts'
import { hasBrowser, openBrowser } from '../support/browser.ts'
import { createEmptyProject, type EmptyProject } from './empty-project.ts'

let project: EmptyProject
let chat: string
let browser: Browser | undefined

beforeAll(async () => {
  project = createEmptyProject()
  chat = join(project.folder, 'my-chat')
  // As `npx holdfast init my-chat` does once the package is on npm.
  const npx = [
    'exec',
    '--yes',
    `--package=${inject('tarball')}`,
    '--',
    'holdfast',
    'init',
    'my-chat',
  ]
  const { status, output } = project.run('npm', npx)
  if (status !== 0) throw new Error(output)
  const install = ['install', '--no-audit', '--no-fund', '--prefer-offline', inject('tarball')]
  const installed = project.run('npm', install, chat)
  if (installed.status !== 0) throw new Error(installed.output)
  if (hasBrowser) browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  project.remove()
})

const flags = ['--experimental-strip-types', '--disable-warning=ExperimentalWarning']
const start = (...args: readonly string[]) =>
  project.start([...flags, 'server.ts', ...args], /^The chat is at (\S+)$/m, {
    cwd: chat,
    env: { PORT: '0', HOLDFAST_DB: `chat${args.join('')}.db` },
  })

describe('what `npx holdfast init` wrote', () => {
  it('[CF5] builds: its types are right, and the page is made', () => {
    expect(project.run('npm', ['run', 'build'], chat)).toMatchObject({ status: 0 })
    expect(existsSync(join(chat, 'dist/index.html'))).toBe(true)
  })

  // npm has a browser for Linux on x64 alone; elsewhere CHROMIUM names one: see `hasBrowser`.
  it.skipIf(!hasBrowser).each([
    ['as it is deployed', []],
    ['as it is developed', ['--dev']],
  ])(
    '[CF5] answers a question in the browser, and shows it after a reload: %s',
    async (_, args) => {
      const url = await start(...args)
      const page = await browser!.newPage()
      // To end a hang, not to measure: the first time, Vite reads every package anew.
      page.setDefaultTimeout(120_000)
      const tab = await chatIn(page, url)
      await tab.sendMessage('What is the weather in Paris?')
      await tab.ended()
      await tab.widget.getByText('Used 1 tool').waitFor()
      const shown = () => page.locator('.hf-turn').evaluate((turn) => turn.textContent)
      const before = await shown()
      expect(before).toContain('Paris')
      await page.reload()
      await tab.ended()
      expect(await shown()).toBe(before)
      expect(await tab.faults()).toEqual([])
      await page.close()
    },
  )
})
