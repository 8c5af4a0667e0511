import type { ReactElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, it } from 'vitest'
import { JsonView } from './json-view.tsx'
import { ValueView } from './value-view.tsx'

const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const draw = (element: ReactElement) => renderToStaticMarkup(element)

describe('a result without a card', () => {
  it('[CD2] is a picture where it is one', () => {
    const source = `src="data:image/png;base64,${pixel}"`
    expect(draw(<ValueView value={`data:image/png;base64,${pixel}`} />)).toContain(source)
    expect(draw(<ValueView value={{ mediaType: 'image/png', data: pixel }} />)).toContain(source)
  })

  it('[HT5] is no picture from anywhere else, and none that could run', () => {
    const other = { mediaType: 'image/png', url: 'https://example.com/pixel.png' }
    expect(draw(<ValueView value={other} />)).not.toContain('<img')
    expect(draw(<ValueView value="data:image/svg+xml,<svg onload=alert(1)>" />)).not.toContain(
      '<img',
    )
  })

  it('[CD2] is a table where it is a list of the same plain fields', () => {
    const rows = [
      { name: 'A', price: 1 },
      { name: 'B', price: null },
    ]
    const html = draw(<ValueView value={rows} />)
    expect(html.match(/<tr>/g)).toHaveLength(3)
    expect(html).toContain('<td>A</td><td>1</td>')
    expect(draw(<ValueView value={[{ a: { b: 1 } }, { a: 2 }]} />)).not.toContain('<table')
  })

  it('[LG9] is JSON otherwise, whatever its value', () => {
    for (const [value, words] of [
      ['', ''],
      [0, '0'],
      [false, 'false'],
      [null, 'null'],
      [[], '[ ]'],
      [{}, '{ }'],
    ] as const) {
      expect(draw(<ValueView value={value} />).replaceAll(/<[^>]*>/g, '')).toBe(words)
    }
  })

  it('draws a large value a piece at a time', () => {
    const many = Array.from({ length: 50_000 }, (_, index) => index)
    const deep = { list: many, text: 'x'.repeat(1_000_000) }
    expect(draw(<JsonView value={many} />).length).toBeLessThan(1_000)
    const html = draw(<JsonView value={deep} />)
    expect(html.length).toBeLessThan(10_000)
    expect(html).toContain('50000 items')
    expect(html).toContain('Show 998000 more characters')
  })
})
