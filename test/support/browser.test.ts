import { expect, it } from 'vitest'
import { hasBrowser, openBrowser } from './browser.ts'

const ownBrowser = process.env['CHROMIUM'] !== undefined

it.runIf(hasBrowser && !ownBrowser)(
  'draws text with the fonts that came with npm, whatever fonts the machine has',
  async () => {
    const browser = await openBrowser()
    try {
      const page = await browser.newPage()
      await page.setContent('<p style="font-family: sans-serif">Holdfast <code>code</code></p>')
      const session = await page.context().newCDPSession(page)
      await session.send('DOM.enable')
      await session.send('CSS.enable')
      const { root } = await session.send('DOM.getDocument')
      for (const selector of ['p', 'code']) {
        const node = await session.send('DOM.querySelector', { nodeId: root.nodeId, selector })
        const { fonts } = await session.send('CSS.getPlatformFontsForNode', node)
        expect(fonts.map((font) => font.familyName)).toEqual(['Open Sans'])
      }
    } finally {
      await browser.close()
    }
  },
)
