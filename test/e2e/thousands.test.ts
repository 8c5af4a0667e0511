import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CDPSession, Page } from 'playwright-core'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { runHoldfast } from '../cli/run-holdfast.ts'
import { startAppServer } from '../support/app-server.ts'
import { hasBrowser, openBrowser } from '../support/browser.ts'
import { openChat } from './chat-page.ts'
import { scrollUntil } from './scroll-until.ts'
import { watchFrames } from './watch-frames.ts'

const messages = 4_000

// npm has a browser for Linux on x64 alone; elsewhere CHROMIUM names one: see `hasBrowser`.
describe.skipIf(!hasBrowser)('a thread of thousands of messages', () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-many-'))
  const db = join(folder, 'chat.db')
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('[PG6] is scrolled to its top and back with few nodes, flat memory and no blank moment', async () => {
    const file = join(folder, 'thread.json')
    writeFileSync(file, JSON.stringify({ id: 'many', title: 'Many', messages: writeMessages() }))
    expect((await runHoldfast(['import', file, '--db', db])).code).toBe(0)
    const server = await startAppServer({ delayMs: 0, env: { HOLDFAST_DB: db } })
    onTestFinished(() => server.close())
    const browser = await openBrowser()
    onTestFinished(() => browser.close())

    const chat = await openChat(browser, `${server.url}/t/many`, {
      viewport: { width: 1_280, height: 800 },
    })
    const { page } = chat
    await userMessage(page, messages - 2).waitFor()
    const session = await page.context().newCDPSession(page)
    await page.evaluate(watchFrames)
    const start = await measure(session)

    const scroll = async () => {
      await page.locator('.hf-scroll').evaluate((element) => element.scrollTo(0, 0))
      await settled(page)
    }
    const pages = await scrollUntil(userMessage(page, 0), scroll, 200_000)
    const top = await measure(session)
    await page.getByRole('button', { name: 'Latest' }).click()
    await userMessage(page, messages - 2).waitFor()
    // There and back again over what is loaded: this must cost nothing that stays.
    await sweep(page)
    const first = await measure(session)
    await sweep(page)
    const second = await measure(session)
    const { longestBlankMs, frames } = await page.evaluate(
      () => (globalThis as unknown as { framesSeen: FramesSeen }).framesSeen,
    )
    const figures = { pages, start, top, first, second, longestBlankMs, frames }
    process.stdout.write(`thousands of messages in a browser: ${JSON.stringify(figures)}\n`)

    expect(frames).toBeGreaterThan(100)
    expect(top.nodes).toBeLessThan(start.nodes * 4)
    expect(second.nodes).toBeLessThan(start.nodes * 4)
    expect(second.heapMb).toBeLessThan(first.heapMb * 1.2 + 5)
    expect(longestBlankMs).toBeLessThan(400)
    expect(await chat.faults()).toEqual([])
    await chat.close()
  }, 300_000)
})

interface FramesSeen {
  readonly longestBlankMs: number
  readonly frames: number
}

/** Questions and answers, every fifth answer with a call. */
function writeMessages(): readonly object[] {
  return Array.from({ length: messages }, (_, index) => {
    if (index % 2 === 0) {
      return { id: `u${index}`, role: 'user', parts: [{ type: 'text', text: `Number ${index}` }] }
    }
    const text = { type: 'text', text: `Answer ${index}. ${'It goes on a little. '.repeat(6)}` }
    const call = {
      type: 'tool-get_weather',
      toolCallId: `c${index}`,
      state: 'output-available',
      input: { city: 'Paris' },
      output: { version: '1', city: 'Paris', temperatureC: index % 30, condition: 'Sunny' },
    }
    const parts =
      index % 10 === 1 ? [{ type: 'step-start' }, call, { type: 'step-start' }, text] : [text]
    return { id: `a${index}`, role: 'assistant', parts }
  })
}

const userMessage = (page: Page, number: number) =>
  page.locator('.hf-user-text', { hasText: new RegExp(`^Number ${number}$`) })

/** Until what was asked for has come and stands in its place. */
async function settled(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const frame = () =>
      new Promise((resolve) => {
        requestAnimationFrame(resolve)
      })
    for (let left = 4; left > 0; left--) await frame()
  })
  await page.locator('.hf-older').waitFor({ state: 'detached' })
}

/** From the end to the top and back, a screen and a half at a time. */
const sweep = (page: Page): Promise<void> =>
  page.locator('.hf-scroll').evaluate(async (scroll) => {
    const frame = () =>
      new Promise((resolve) => {
        requestAnimationFrame(resolve)
      })
    for (const direction of [-1, 1]) {
      for (let steps = 0; steps < 120; steps++) {
        scroll.scrollBy(0, direction * 1_200)
        await frame()
      }
    }
  })

interface Figures {
  readonly nodes: number
  readonly heapMb: number
}

async function measure(session: CDPSession): Promise<Figures> {
  await session.send('HeapProfiler.enable')
  await session.send('HeapProfiler.collectGarbage')
  const { nodes } = await session.send('Memory.getDOMCounters')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  return { nodes, heapMb: Math.round(usedSize / 100_000) / 10 }
}
