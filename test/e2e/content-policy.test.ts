import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { chatIn } from './chat-page.ts'
import { startApp } from './start-app.ts'

/** Every rule that the browser enforced, in the page's own words. */
async function watchPolicy(page: Page): Promise<() => Promise<readonly string[]>> {
  await page.addInitScript(() => {
    const blocked: string[] = []
    Object.assign(globalThis, { blocked })
    addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI, sourceFile }) =>
      blocked.push(`${effectiveDirective} ${blockedURI} ${sourceFile}`),
    )
  })
  return () => page.evaluate(() => (globalThis as unknown as { blocked: string[] }).blocked)
}

// npm has a browser for Linux on x64 alone; elsewhere CHROMIUM names one: see `hasBrowser`.
describe.skipIf(!hasBrowser)('the content-security policy of the app', () => {
  const app = startApp({ delayMs: 0 })

  it('[HT5] allows no inline script or style, no frame, no form, no other server, nothing by default', async () => {
    for (const path of ['/', '/t/some-thread', '/index.html', '/icon.svg']) {
      const { headers, status } = await fetch(`${app.server.url}${path}`)
      expect([path, status]).toEqual([path, 200])
      const policy = headers.get('content-security-policy') ?? ''
      expect(policy.split('; ')).toEqual([
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
      ])
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('x-frame-options')).toBe('DENY')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
      expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
      expect(headers.get('permissions-policy')).toContain('camera=()')
    }
  })

  it('[HT5] blocks nothing that the app does', async () => {
    const context = await app.browser.newContext({ reducedMotion: 'reduce' })
    context.setDefaultTimeout(60_000)
    const page = await context.newPage()
    const blocked = await watchPolicy(page)
    const chat = await chatIn(page, app.server.url)
    const asked = [
      'weather in Paris',
      'stock ACME',
      'AFL code for a moving average',
      'call 3 tools',
      '**bold** `code`\n```js\nlet a\n```\n| a | b |\n|---|---|\n| 1 | 2 |',
    ]
    for (const [index, text] of asked.entries()) {
      await chat.sendMessage(text)
      await chat.ended(index + 1)
    }
    for (const widget of await chat.widget.all()) await widget.click()
    for (const fold of await page.locator('.hf-fold > summary').all()) await fold.click()
    await page.reload()
    await chat.ended()
    await chat.sendMessage('delete note Groceries')
    await page.getByRole('button', { name: 'Accept' }).click()
    await page.locator('.hf-turn').last().and(page.locator('[data-status=ended]')).waitFor()
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.reload()
    await chat.ended()
    expect(await blocked()).toEqual([])
    expect(await chat.faults()).toEqual([])
    await context.close()
  })

  it('[HT5] and what is put into the page by force does not run', async () => {
    const context = await app.browser.newContext()
    const page = await context.newPage()
    const blocked = await watchPolicy(page)
    await page.goto(app.server.url)
    await page.evaluate(() => {
      const attempts = [
        () => {
          const script = document.createElement('script')
          script.textContent = 'globalThis.hacked = 1'
          document.body.append(script)
        },
        () => document.body.insertAdjacentHTML('beforeend', '<img src=x onerror="hacked = 1">'),
        () => document.body.setAttribute('onclick', 'globalThis.hacked = 1'),
      ]
      for (const attempt of attempts) {
        try {
          attempt()
        } catch {
          // Refused even to be written, which is as good.
        }
      }
    })
    await expect.poll(blocked).not.toEqual([])
    expect(await page.evaluate(() => 'hacked' in globalThis)).toBe(false)
    await context.close()
  })
})
