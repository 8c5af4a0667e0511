import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { writeExchanges } from '../support/write-exchanges.ts'
import { type ChatPage, openChat } from './chat-page.ts'
import { startApp } from './start-app.ts'

const formats = {
  ui: 'JSON: AI SDK 5–7',
  vercel: 'JSON: AI SDK 4',
  entities: 'JSON: rows',
  chat: 'JSON: chat',
} as const

// npm has a browser for Linux on x64 alone; elsewhere CHROMIUM names one: see `hasBrowser`.
describe.skipIf(!hasBrowser)('exporting a thread', () => {
  const app = startApp({ delayMs: 0 })

  for (const [format, label] of Object.entries(formats)) {
    it(`downloads what the server has, oldest first, as ${label}`, async () => {
      const chat = await openChat(app.browser, app.server.url)
      await chat.sendMessage('Stock ACME')
      await chat.ended()
      const { name, text } = await download(chat, label)
      expect(name).toBe(`stock-acme.${format}.json`)
      const id = chat.page.url().split('/').at(-1)
      const answer = await fetch(`${app.server.url}/api/threads/${id}/messages?format=${format}`)
      const { results } = (await answer.json()) as { readonly results: readonly unknown[] }
      expect(JSON.parse(text)).toEqual({
        id,
        title: 'Stock ACME',
        messages: results.toReversed(),
      })
      expect(await chat.faults()).toEqual([])
      await chat.close()
    })
  }

  it('downloads a document in Markdown, with the tools that were used', async () => {
    const chat = await openChat(app.browser, app.server.url)
    await chat.sendMessage('AFL code for a moving average')
    await chat.ended()
    const { name, text } = await download(chat, 'Markdown')
    expect(name).toBe('afl-code-for-a-moving-average.md')
    expect(text).toMatch(/^# AFL code for a moving average\n\n## You\n/)
    expect(text).toContain('**get_afl_code**')
    expect(text).toContain('Here is AFL code')
    await chat.close()
  })

  it('[PG2] has the whole of a long thread, though only its end is loaded', async () => {
    await writeExchanges(app.server.url, 'long', { from: 1, to: 105 })
    const chat = await openChat(app.browser, `${app.server.url}/t/long`)
    await chat.page.getByText('Message number 105', { exact: true }).waitFor()
    const { text } = await download(chat, formats.chat)
    const { messages } = JSON.parse(text) as { readonly messages: readonly { content: string }[] }
    expect(messages).toHaveLength(210)
    expect(messages[0]?.content).toBe('Message number 1')
    await chat.close()
  })

  it('says why when it could not be done', async () => {
    const chat = await openChat(app.browser, app.server.url)
    await chat.sendMessage('Stock ACME')
    await chat.ended()
    await chat.page.route('**/messages?format=chat*', (route) => route.abort())
    await chat.page.getByText('Export', { exact: true }).click()
    await chat.page.getByRole('button', { name: 'Markdown' }).click()
    await chat.page.getByRole('alert').getByText('The server cannot be reached.').waitFor()
    await chat.close()
  })
})

async function download(chat: ChatPage, label: string) {
  await chat.page.getByText('Export', { exact: true }).click()
  const coming = chat.page.waitForEvent('download')
  await chat.page.getByRole('button', { name: label, exact: true }).click()
  const file = await coming
  return { name: file.suggestedFilename(), text: readFileSync(await file.path(), 'utf8') }
}
