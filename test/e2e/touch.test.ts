import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { screens } from '../../scripts/screens.ts'
import { hasBrowser } from '../support/browser.ts'
import { openChat } from './chat-page.ts'
import { startApp } from './start-app.ts'

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } as const

// npm has a browser for Linux on x64 alone; elsewhere CHROMIUM names one: see `hasBrowser`.
describe.skipIf(!hasBrowser)('a chat under a finger', () => {
  const app = startApp({ delayMs: 0 })

  it.each([
    'empty',
    'weather',
    'opened',
    'approval',
    'queue',
    'revising',
    'versions',
    'attaching',
    'drawer',
    'settings',
    'failed',
  ] as const)(
    '[UX2] has nothing to tap that is smaller than 44 px, and no field that a phone zooms in on: %s',
    async (name) => {
      const context = await app.browser.newContext({ ...phone, reducedMotion: 'reduce' })
      const page = await context.newPage()
      await screens[name](page, app.server)
      expect(await tooSmall(page)).toEqual([])
      // What sticks out of the page cannot be reached.
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0)
      await context.close()
    },
  )

  it('[UX2] shows the actions of each message, with names for those who do not see the icons', async () => {
    const chat = await openChat(app.browser, app.server.url, phone)
    await chat.sendMessage('Stock ACME')
    await chat.ended()
    const actions = chat.page.locator('.hf-message-actions')
    for (const [index, names] of [
      ['Copy', 'Edit', 'Fork'],
      ['Copy', 'Regenerate', 'Fork', 'Good answer', 'Bad answer'],
    ].entries()) {
      for (const name of names) {
        const button = actions.nth(index).getByRole('button', { name })
        expect(await button.evaluate((it) => it.checkVisibility({ opacityProperty: true }))).toBe(
          true,
        )
      }
    }
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('[UX2] keeps the composer above a keyboard that is laid over the page, however much waits', async () => {
    const context = await app.browser.newContext(phone)
    const page = await context.newPage()
    await page.addInitScript(() => {
      const seen = Object.assign(new EventTarget(), { height: innerHeight, scale: 1 })
      Object.defineProperty(globalThis, 'visualViewport', { value: seen })
    })
    await screens.queue(page, app.server)
    const bottomOfComposer = async () => {
      const box = await page.locator('.hf-composer').boundingBox()
      return (box?.y ?? 0) + (box?.height ?? 0)
    }
    const see = (height: number, scale: number) =>
      page.evaluate(
        ([pixels, zoom]) => {
          Object.assign(visualViewport ?? {}, { height: pixels, scale: zoom })
          visualViewport?.dispatchEvent(new Event('resize'))
        },
        [height, scale] as const,
      )
    const before = await bottomOfComposer()
    await see(400, 1)
    await expect.poll(bottomOfComposer).toBeLessThan(400)
    expect((await page.locator('.hf-scroll').boundingBox())?.height).toBeGreaterThan(60)
    await see(844, 1)
    await expect.poll(bottomOfComposer).toBe(before)
    // That is somebody who looks at something closely.
    await see(400, 2)
    expect(await bottomOfComposer()).toBe(before)
    await context.close()
  })

  it('[UX5] keeps a field in view that somebody writes in, above the keyboard too', async () => {
    const viewport = { width: 360, height: 740 }
    const chat = await openChat(app.browser, app.server.url, { ...phone, viewport })
    const { page } = chat
    const isInView = (field: Locator) =>
      field.evaluate((element) => {
        const list = element.closest('.hf-scroll')?.getBoundingClientRect()
        const { top, bottom } = element.getBoundingClientRect()
        return list !== undefined && top >= list.top && bottom <= list.bottom
      })
    await chat.sendMessage('What is the weather in Paris?')
    await chat.ended()
    await page.locator('.card-weather, .hf-card').first().waitFor()
    // At the end, from where the list follows whatever grows.
    await page.locator('.hf-scroll').evaluate((list) => list.scrollTo(0, list.scrollHeight))
    await page.getByRole('button', { name: 'Edit' }).evaluate((button) => {
      if (button instanceof HTMLElement) button.click()
    })
    const editor = page.getByRole('textbox', { name: 'Edit' })
    await expect.poll(() => isInView(editor)).toBe(true)
    await page.setViewportSize({ width: 360, height: 500 })
    await expect
      .poll(() => page.locator('.hf-scroll').evaluate((list) => list.clientHeight))
      .toBeLessThan(400)
    await expect.poll(() => isInView(editor)).toBe(true)
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('folds a long message of a person, opens it in place, and prints all of it', async () => {
    const chat = await openChat(app.browser, app.server.url, phone)
    const { page } = chat
    await chat.sendMessage('Words of a long message. '.repeat(200))
    await chat.ended()
    const text = page.locator('.hf-user-text')
    const heightOf = () => text.evaluate((it) => it.clientHeight)
    const folded = await heightOf()
    expect(folded).toBeLessThan(400)
    await page.emulateMedia({ media: 'print' })
    expect(await heightOf()).toBeGreaterThan(folded * 3)
    await page.emulateMedia({ media: 'screen' })
    await page.getByRole('button', { name: 'Show all' }).tap()
    expect(await heightOf()).toBeGreaterThan(folded * 3)
    await page.getByRole('button', { name: 'Show less' }).tap()
    await expect.poll(heightOf).toBe(folded)
    expect(await chat.faults()).toEqual([])
    await chat.close()
  })

  it('[UX2] [FL1] keeps what it says of a file that is not taken within the file’s frame', async () => {
    const chat = await openChat(app.browser, app.server.url, phone)
    const { page } = chat
    await page.locator('input[data-attach]').setInputFiles({
      name: 'a-program-whose-name-is-longer-than-the-screen-is-wide.bin',
      mimeType: 'application/octet-stream',
      buffer: Buffer.alloc(1_000),
    })
    const frame = page.locator('.hf-attachment[data-state=failed]')
    await frame.waitFor()
    const [outer, inner] = await Promise.all([
      frame.boundingBox(),
      frame.locator('.hf-attachment-error').boundingBox(),
    ])
    expect(outer?.width).toBeLessThan(390)
    expect((inner?.x ?? 0) + (inner?.width ?? 0)).toBeLessThan(
      (outer?.x ?? 0) + (outer?.width ?? 0),
    )
    expect(outer?.height).toBeLessThan(120)
    await chat.close()
  })
})

/** A link within a sentence is as tall as its line, and a mark that only shows is not tapped. */
const tooSmall = (page: Page): Promise<readonly string[]> =>
  page.evaluate(() =>
    [
      ...document.querySelectorAll<HTMLElement>(
        'a[href], button, summary, input:not([type=file]), select, textarea',
      ),
    ]
      .filter((each) => !each.matches('.hf-markdown a, .app-skip, .hf-markdown input'))
      .filter((each) => each.checkVisibility({ visibilityProperty: true }))
      .flatMap((each) => {
        // A field within its frame is tapped by the frame.
        const { width, height } = (each.closest('label') ?? each).getBoundingClientRect()
        const isField = each.matches('input:not([type=checkbox]), select, textarea')
        const letters = Number.parseFloat(getComputedStyle(each).fontSize)
        const isSmall = Math.min(width, height) < 43.5 || (isField && letters < 16)
        const name = each.getAttribute('aria-label') ?? each.textContent
        return isSmall ? [`${name}: ${width} × ${height}, ${letters} px`] : []
      }),
  )
