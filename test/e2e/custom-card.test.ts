import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, openBrowser } from '../support/browser.ts'
import { openChat } from './chat-page.ts'

const project = join(import.meta.dirname, '../..')

// npm has a browser for Linux on x64 alone; elsewhere CHROMIUM names one: see `hasBrowser`.
describe.skipIf(!hasBrowser)('examples/custom-card', () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-example-'))
  let browser: Browser
  let child: ChildProcess
  let url: string
  beforeAll(async () => {
    browser = await openBrowser()
    child = spawn(
      process.execPath,
      ['--conditions=holdfast-source', 'examples/custom-card/server.ts'],
      {
        cwd: project,
        env: {
          ...process.env,
          NODE_ENV: 'production',
          PORT: '0',
          HOLDFAST_DB: join(folder, 'chat.db'),
        },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    url = await firstAddress(child)
  })
  afterAll(async () => {
    await browser?.close()
    child?.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })

  it('[CD1] [CD4] draws its card live, after a reload, and from an old payload', async () => {
    const chat = await openChat(browser, url)
    const { page } = chat
    await chat.sendMessage('weather in Paris')
    await chat.ended()
    const card = page.locator('[data-tool=get_weather]').first()
    expect(await card.textContent()).toBe('Paris: 21 °C ')
    await page.reload()
    await chat.ended()
    expect(await card.textContent()).toBe('Paris: 21 °C ')

    const part = {
      type: 'tool-get_weather',
      toolCallId: 'old-call',
      state: 'output-available',
      input: { city: 'Oslo' },
      output: { version: '1', city: 'Oslo', temperatureF: 50 },
    }
    await fetch(`${url}/api/import`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        id: 'custom-card',
        messages: [{ id: 'old', role: 'assistant', parts: [part] }],
      }),
    })
    await page.locator('[data-tool=get_weather]', { hasText: 'Oslo: 10 °C' }).waitFor()
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('[FK6] draws a note while it is written, as the guide shows it', async () => {
    const guide = readFileSync(join(project, 'docs/guides/react.md'), 'utf8')
    const source = readFileSync(join(project, 'examples/custom-card/note-card.tsx'), 'utf8')
    expect(guide).toContain(`\`\`\`tsx\n${source}\`\`\``)

    const chat = await openChat(browser, url)
    const { page } = chat
    await chat.sendMessage('write a note about tea')
    const note = page.locator('[data-tool=write_note]').last()
    await note.getByText('Being written…').waitFor()
    await note.getByRole('heading', { name: 'Tea' }).waitFor()
    await note.getByText('Read it again in a week.').waitFor()
    await note.getByText('Being written…').waitFor({ state: 'detached' })
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })
})

function firstAddress(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const [address] = /http:\/\/\S+/.exec(line) ?? []
      if (address !== undefined) resolve(address)
    })
    child.once('exit', () => reject(new Error('The example did not start.')))
  })
}
