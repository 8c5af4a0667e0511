import { join } from 'node:path'
import type { Locator } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { buildPage } from '../support/built-page.ts'
import { type ChatPage, chatIn, openChat } from './chat-page.ts'
import { startApp } from './start-app.ts'

const noteOf = ({ page }: ChatPage): Locator => page.locator('[data-tool=write_note]').last()
const firstWords = (note: Locator): Promise<string> =>
  note.locator('.hf-markdown p').first().innerText()

/** Waits until the first paragraph has so many characters, while the note is still being written. */
async function written(note: Locator, characters: number): Promise<string> {
  await note.locator('.card-written[data-writing]').waitFor()
  await expect.poll(async () => (await firstWords(note)).length).toBeGreaterThan(characters)
  return firstWords(note)
}

// npm has a browser for Linux on x64 alone; elsewhere CHROMIUM names one: see `hasBrowser`.
describe.skipIf(!hasBrowser)('a card that grows, in a browser', () => {
  const app = startApp({ delayMs: 60 })

  it('[FK6] grows as it is written, is the same after a reload in mid-call, and in a second tab', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    await chat.sendMessage('Write a note about green tea')
    const note = noteOf(chat)
    const before = await written(note, 20)
    expect(await note.getAttribute('data-call-state')).toBe('streaming')
    expect(await note.getAttribute('aria-busy')).toBe('true')

    await page.reload()
    const after = await written(note, 20)
    expect(after.startsWith(before)).toBe(true)
    const second = await chatIn(await page.context().newPage(), page.url())
    await written(noteOf(second), after.length - 1)

    // Neither the card nor its text is made anew when the arguments are whole and when the result is there.
    const element = await note.elementHandle()
    const paragraph = await note.locator('.hf-markdown p').first().elementHandle()
    await chat.ended()
    expect(await element?.evaluate((card) => card.isConnected)).toBe(true)
    expect(await paragraph?.evaluate((text) => text.isConnected)).toBe(true)
    const whole = await note.innerText()
    expect(whole).toContain('it goes on from the same word.')
    expect(whole).toContain('Saved')
    expect(await note.getAttribute('aria-busy')).toBeNull()
    await second.ended()
    expect(await noteOf(second).innerText()).toBe(whole)
    expect([...(await chat.faults()), ...(await second.faults())]).toEqual([])
    await chat.close()
  })

  it('[FK6] keeps what was written when it is stopped, with the reason, after a reload too', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    await chat.sendMessage('Write a note about black tea')
    const note = noteOf(chat)
    const before = await written(note, 20)
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.locator('[data-ending=stopped]').waitFor()
    expect((await firstWords(note)).startsWith(before)).toBe(true)
    await note.getByText('Not finished').waitFor()
    const stopped = await note.innerText()
    await page.reload()
    await chat.ended()
    expect(await note.innerText()).toBe(stopped)
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('[FK6] [CR5] is there when the server dies in mid-call, and the note is written after all', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    await chat.sendMessage('Write a note about white tea')
    const before = await written(noteOf(chat), 20)
    await app.server.kill()
    await app.server.restart()
    await page.locator('.card-written', { hasText: 'Saved' }).waitFor()
    await chat.ended()
    const all = await page.locator('[data-tool=write_note] .hf-markdown').allInnerTexts()
    expect(all[0]?.startsWith(before)).toBe(true)
    expect(all.at(-1)).toContain('it goes on from the same word.')
    await chat.close()
  })

  it('[FK6] [CD2] that cannot be drawn yet is tried again with each piece, and drawn once it can', async () => {
    const built = await buildPage({ root: join(import.meta.dirname, 'kit-page') })
    const chat = await openChat(app.browser, `${app.server.url}/picky?new&picky=write_note`, {
      built,
    })
    await chat.sendMessage('Write a note about tea')
    const note = noteOf(chat)
    await note.locator('.hf-card-loading').waitFor()
    await note.locator('.picky-card').waitFor()
    expect(await note.getAttribute('data-call-state')).toBe('streaming')
    const made = await note.locator('.picky-card').getAttribute('data-made')
    await chat.ended()
    // The same component to the end, not one for each piece.
    expect(await note.locator('.picky-card').getAttribute('data-made')).toBe(made)
    expect(await note.textContent()).not.toContain('could not be displayed')
    const faults = await chat.faults()
    expect(faults.filter((fault) => !fault.includes('The text has not come yet.'))).toEqual([])
    await chat.close()
    built.remove()
  })
})
