import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { chatIn, type ChatPage, openChat } from './chat-page.ts'
import { startApp } from './start-app.ts'

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAMAAAAFCAYAAACAcVaiAAAAEElEQVR42mNk+M9Qz0AEAAAzEQH9AJR9AAAAAElFTkSuQmCC',
  'base64',
)
const photo = { name: 'photo.png', mimeType: 'image/png', buffer: png }
const notes = { name: 'notes.csv', mimeType: 'text/csv', buffer: Buffer.from('a,b\n1,2\n') }

// npm has a browser for Linux on x64 alone; elsewhere CHROMIUM names one: see `hasBrowser`.
describe.skipIf(!hasBrowser)('files in a browser', () => {
  const app = startApp({ delayMs: 0 })

  const attach = (chat: ChatPage, ...files: (typeof photo)[]) =>
    chat.page.locator('input[data-attach]').setInputFiles(files)
  const attached = (chat: ChatPage) => chat.page.locator('.hf-attachment[data-state=ready]')

  it('[FL1] are attached, are there after a reload, go with the message, and are shown in it', async () => {
    const chat = await openChat(app.browser, app.server.url)
    await chat.sendMessage('Hello')
    await chat.ended()
    await attach(chat, photo, notes)
    await attached(chat).nth(1).waitFor()
    await chat.page.reload()
    await attached(chat).nth(1).waitFor()
    expect(await chat.page.locator('.hf-attachment-name').allTextContents()).toEqual([
      'photo.png',
      'notes.csv',
    ])
    await chat.sendMessage('What are these?')
    await chat.ended(2)
    expect(await chat.page.locator('.hf-attachment').count()).toBe(0)
    const message = chat.page.locator('.hf-user').last()
    const shown = async () => {
      const image = message.locator('img.hf-image')
      await image.waitFor()
      await expect
        .poll(() => image.evaluate((element: HTMLImageElement) => element.naturalWidth))
        .toBe(3)
      const card = message.locator('a.hf-file')
      await card.getByText(' B').waitFor()
      return card.textContent()
    }
    expect(await shown()).toBe('notes.csvtext/csv · 8 B')
    await chat.page.reload()
    await chat.ended(2)
    expect(await shown()).toBe('notes.csvtext/csv · 8 B')
    const [download] = await Promise.all([
      chat.page.waitForEvent('download'),
      message.locator('a.hf-file').click(),
    ])
    expect(download.suggestedFilename()).toBe('notes.csv')
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('[FL1] [VR1] stay with their message when it is edited', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    await attach(chat, photo, notes)
    await attached(chat).nth(1).waitFor()
    await chat.sendMessage('What are these?')
    await chat.ended()
    await page.getByRole('button', { name: 'Edit' }).focus()
    await page.keyboard.press('Enter')
    await page.locator('.hf-editor a.hf-file').waitFor()
    await page.getByRole('textbox', { name: 'Edit' }).fill('And what are those?')
    await page.getByRole('button', { name: 'Save and send' }).click()
    await page.locator('.hf-user .hf-versions').getByText('2 / 2').waitFor()
    await chat.ended()
    const message = page.locator('.hf-user')
    await message.getByText('And what are those?').waitFor()
    await message.locator('img.hf-image').waitFor()
    await message.locator('a.hf-file').getByText('notes.csv').waitFor()
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('[FL1] that cannot be shown say so, and which they are', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    await attach(chat, photo)
    await attached(chat).waitFor()
    await chat.sendMessage('What is this?')
    await chat.ended()
    await page.route('**/api/files/*', (route) => route.fulfill({ status: 404, body: '' }))
    await page.reload()
    const card = page.locator('.hf-user span.hf-file')
    await card.getByText('cannot be shown').waitFor()
    expect(await card.textContent()).toBe('photo.pngimage/png · cannot be shown')
    expect(await page.locator('.hf-image, .hf-image-loading').count()).toBe(0)
    await chat.close()
  })

  it('[FL1] that are refused say why, can be removed, and a message of a file alone is sent', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const program = { ...notes, name: 'setup.exe', buffer: Buffer.from('MZ\u0090\u0000') }
    await attach(chat, program)
    const failed = chat.page.locator('.hf-attachment[data-state=failed]')
    await failed.getByRole('alert').getByText('are not accepted').waitFor()
    // It would be refused again.
    expect(await failed.getByRole('button', { name: 'Try setup.exe again' }).count()).toBe(0)
    await failed.getByRole('button', { name: 'Remove setup.exe' }).click()
    expect(await chat.page.locator('.hf-attachment').count()).toBe(0)
    await attach(chat, photo)
    await attached(chat).waitFor()
    await chat.page.getByRole('button', { name: 'Send' }).click()
    await chat.ended()
    await chat.page.locator('.hf-user img.hf-image').waitFor()
    await chat.close()
  })

  it('[FL1] that did not arrive are tried again', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const { page } = chat
    await page.route('**/api/files', (route) => route.abort())
    await attach(chat, photo)
    await page.getByRole('alert').getByText('The server cannot be reached.').waitFor()
    await page.unroute('**/api/files')
    await page.getByRole('button', { name: 'Try photo.png again' }).click()
    await attached(chat).waitFor()
    await chat.close()
  })

  it('[FL1] are dropped and pasted', async () => {
    const chat = await openChat(app.browser, app.server.url)
    const put = (type: 'drop' | 'paste') =>
      chat.composer.evaluate((field, kind) => {
        const data = new DataTransfer()
        data.items.add(new File(['hello'], `${kind}.txt`, { type: 'text/plain' }))
        const init = { bubbles: true, cancelable: true }
        field.dispatchEvent(
          kind === 'drop'
            ? new DragEvent('drop', { ...init, dataTransfer: data })
            : new ClipboardEvent('paste', { ...init, clipboardData: data }),
        )
      }, type)
    await put('drop')
    await put('paste')
    await attached(chat).nth(1).waitFor()
    expect(await chat.page.locator('.hf-attachment-name').allTextContents()).toEqual([
      'drop.txt',
      'paste.txt',
    ])
    await chat.close()
  })
})

// Needs a browser, as above: see `hasBrowser`.
describe.skipIf(!hasBrowser)('files behind a token', () => {
  const token = 'a-long-and-secret-token'
  const app = startApp({ delayMs: 0, env: { HOLDFAST_TOKEN: token } })

  it('[FL1] are sent and shown with it', async () => {
    const context = await app.browser.newContext({ reducedMotion: 'reduce' })
    context.setDefaultTimeout(60_000)
    const page = await context.newPage()
    await page.goto(app.server.url)
    await page.getByLabel('The value of HOLDFAST_TOKEN').fill(token)
    await page.keyboard.press('Enter')
    await page.locator('input[data-attach]').setInputFiles(photo)
    await page.locator('.hf-attachment[data-state=ready]').waitFor()
    await page.getByRole('button', { name: 'Send' }).click()
    const image = page.locator('.hf-user img.hf-image')
    await image.waitFor()
    await expect
      .poll(() => image.evaluate((element: HTMLImageElement) => element.naturalWidth))
      .toBe(3)
    expect(await image.getAttribute('src')).toMatch(/^blob:/)
    await context.close()
  })
})

// Needs a browser, as above: see `hasBrowser`.
describe.skipIf(!hasBrowser)('files that a tool made', () => {
  const token = 'a-long-and-secret-token'
  const app = startApp({ config: 'test/e2e/odd-tools.config.ts', env: { HOLDFAST_TOKEN: token } })

  it('[FL1] [CD2] are there to be seen and opened, behind a token too', async () => {
    const context = await app.browser.newContext({ reducedMotion: 'reduce' })
    context.setDefaultTimeout(60_000)
    const page = await context.newPage()
    await page.goto(app.server.url)
    await page.getByLabel('The value of HOLDFAST_TOKEN').fill(token)
    await page.keyboard.press('Enter')
    const chat = await chatIn(page, app.server.url)
    await chat.sendMessage('picture')
    await chat.ended()
    // Where the answer is, not only in the rows of the widget.
    const image = page.locator('.hf-card img.hf-image')
    await image.waitFor()
    await expect
      .poll(() => image.evaluate((element: HTMLImageElement) => element.naturalWidth))
      .toBeGreaterThan(100)

    await chat.sendMessage('report')
    await chat.ended(2)
    await chat.widget.last().click()
    await page.getByText('Result').last().click()
    const link = page.locator('.hf-json a.hf-file')
    await link.getByText('application/pdf · 20 kB').waitFor()
    expect(await link.getAttribute('href')).toMatch(/^blob:/)
    expect(await chat.faults()).toEqual([])
    await context.close()
  })
})
