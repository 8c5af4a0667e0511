import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { AppServer } from '../support/app-server.ts'
import { hasBrowser } from '../support/browser.ts'
import { openChat } from './chat-page.ts'
import { startApp } from './start-app.ts'

const folder = join(import.meta.dirname, '../fixtures/legacy')

const fixtures = [
  { name: 'ui-every-state', says: 'AI SDK 5 to 7' },
  { name: 'vercel-two-steps', says: 'AI SDK 4' },
  { name: 'vercel-dead-calls', says: 'AI SDK 4, left running' },
  { name: 'tools-used-text-only-parts', says: 'tools_used' },
  { name: 'commentary-in-content', says: 'commentary in the content' },
  { name: 'entities-camel-case', says: 'entity rows' },
] as const

// npm has a browser for Linux on x64 alone; elsewhere CHROMIUM names one: see `hasBrowser`.
describe.skipIf(!hasBrowser)('old data in a browser', () => {
  const app = startApp({ delayMs: 0 })

  for (const { name, says } of fixtures) {
    it(`[LE1] [LE4] shows every call, and none that still runs: ${says}`, async () => {
      await importThread(app.server, name, readMessages(name))
      const chat = await openChat(app.browser, `${app.server.url}/t/${name}`)
      const { page } = chat
      await page.locator('.hf-turn').first().waitFor()
      for (const toggle of await chat.widget.all()) await toggle.click()
      for (const group of await page.locator('.hf-call-group button').all()) await group.click()
      const calls = await callsOf(app.server, name)
      expect(calls).not.toEqual([])
      const drawn = await page.locator('.hf-call').evaluateAll((all) =>
        all.map((row) => ({
          id: row.getAttribute('data-call-id'),
          state: row.getAttribute('data-call-state'),
        })),
      )
      expect(drawn).toEqual(calls)
      expect(await page.locator('.hf-spinner, [aria-busy=true]').count()).toBe(0)
      expect(await page.locator('.hf-turn:not([data-status=ended])').count()).toBe(0)
      expect(await chat.faults()).toEqual([])
      await chat.close()
    })
  }

  it('[CD1] [CD2] draws old tools with the cards of today, and artifacts as their code', async () => {
    const part = (name: string, output: object) => ({
      type: `tool-${name}`,
      toolCallId: `call-${name}`,
      state: 'output-available',
      input: { symbol: 'ACME' },
      output,
    })
    const code = 'def mean(values):\n    return sum(values) / len(values)\n'
    const parts = [
      part('get_stock_data', { symbol: 'ACME', current_price: 12.5, data: [11, 12, 12.5] }),
      part('generate_afl_code', { afl_code: 'Buy = Cross(MA(C, 5), MA(C, 20));' }),
      part('artifact', { id: 'x', language: 'python', title: 'The mean', code }),
      part('look_up', { code: 'E404', message: 'nothing there' }),
      { type: 'text', text: 'There you are.' },
    ]
    await importThread(app.server, 'old-names', [
      { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Show me' }] },
      { id: 'a1', role: 'assistant', parts },
    ])
    const chat = await openChat(app.browser, `${app.server.url}/t/old-names`)
    const { page } = chat
    await page.locator('[data-tool=get_stock_data] .card-stock', { hasText: '12.50' }).waitFor()
    await page.locator('[data-tool=generate_afl_code] .card-afl', { hasText: 'Cross' }).waitFor()
    const artifact = page.locator('[data-tool=artifact]')
    expect(await artifact.getByRole('heading').textContent()).toBe('The mean')
    expect(await artifact.locator('pre').textContent()).toBe(code)
    expect(await page.locator('.hf-card').count()).toBe(3)
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('[HT5] does nothing that a tool’s name, title or result says', async () => {
    const attack = '<img src=x onerror="hacked=1"><script>hacked=1</script>'
    const part = {
      type: 'dynamic-tool',
      toolName: attack,
      title: attack,
      toolCallId: 'c1',
      state: 'output-available',
      input: { [attack]: attack },
      output: [
        { [attack]: attack, b: 1 },
        { [attack]: `javascript:${attack}`, b: 2 },
      ],
    }
    await importThread(app.server, 'hostile', [
      { id: 'u1', role: 'user', parts: [{ type: 'text', text: attack }] },
      { id: 'a1', role: 'assistant', parts: [part, { type: 'text', text: attack }] },
    ])
    const chat = await openChat(app.browser, `${app.server.url}/t/hostile`)
    const { page } = chat
    await chat.widget.click()
    for (const fold of await page.locator('.hf-fold > summary').all()) await fold.click()
    await page.locator('.hf-call-name', { hasText: '<script>' }).waitFor()
    expect(await page.locator('.hf-turn :is(img, script, a)').count()).toBe(0)
    expect(await page.evaluate(() => 'hacked' in globalThis)).toBe(false)
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })
})

const readMessages = (name: string): unknown =>
  (JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')) as { readonly input: unknown })
    .input

async function importThread({ url }: AppServer, id: string, messages: unknown): Promise<void> {
  const response = await fetch(`${url}/api/import`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id, messages }),
  })
  expect(response.status).toBe(200)
}

interface CallState {
  readonly id: string
  readonly state: string
}

/** What the server says of the calls of a thread, oldest first. */
async function callsOf({ url }: AppServer, threadId: string): Promise<readonly CallState[]> {
  const page = await fetch(`${url}/api/threads/${threadId}/messages?format=ui&limit=200`)
  const { results } = (await page.json()) as {
    readonly results: readonly { readonly id: string; readonly role: string }[]
  }
  const turns = results.toReversed().filter(({ role }) => role === 'assistant')
  const lists = turns.map(async ({ id }) => {
    const response = await fetch(`${url}/api/messages/${id}/tool-calls?include=all`)
    const { toolCalls } = (await response.json()) as { readonly toolCalls: readonly CallState[] }
    return toolCalls.map((call) => ({ id: call.id, state: call.state }))
  })
  return (await Promise.all(lists)).flat()
}
