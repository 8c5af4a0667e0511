import { describe, expect, it } from 'vitest'
import { safeHref, safeImage } from './safe-address.ts'

const active = [
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  ' \u0001javascript:alert(1)',
  'java\tscript:alert(1)',
  'java&#10;script:alert(1)',
  '&#106;avascript:alert(1)',
  '&#x6A;avascript&#58;alert(1)',
  'vbscript:msgbox(1)',
  'data:text/html,<script>alert(1)</script>',
  'data:image/svg+xml;base64,PHN2Zz4=',
  'data:image/svg+xml,<svg onload=alert(1)>',
  'file:///etc/passwd',
  'intent://x#Intent;end',
]
const otherHosts = [
  '//other.example/a.png',
  '/\\other.example/a.png',
  '/\t/other.example/a.png',
  '/&#9;/other.example/a.png',
  '/&#x0a;\\other.example/a.png',
  '&#47;&#47;other.example/a.png',
]

describe('An address in Markdown', () => {
  it.each([...active, ...otherHosts])('[HT5] is neither a link nor a picture: %j', (address) => {
    expect([safeHref(address), safeImage(address)]).toEqual([undefined, undefined])
  })

  it('[HT5] of another host is a link and no picture', () => {
    const address = 'https://other.example/a.png'
    expect([safeHref(address), safeImage(address)]).toEqual([address, undefined])
  })

  it('[HT5] of this server is both', () => {
    expect([safeHref('/a/b.png?c&amp;d'), safeImage('/a/b.png')]).toEqual([
      '/a/b.png?c&d',
      '/a/b.png',
    ])
  })

  it('[HT5] may be a picture that is in the text, or mail', () => {
    const picture = 'data:image/png;base64,AAAA'
    expect([safeHref(picture), safeImage(picture)]).toEqual([undefined, picture])
    expect(safeHref('mailto:a@example.com')).toBe('mailto:a@example.com')
  })
})
