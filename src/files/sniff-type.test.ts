import { describe, expect, it } from 'vitest'
import { isAccepted, isShownInline, refineType, sniffType } from './sniff-type.ts'

const bytes = (...parts: readonly (string | readonly number[])[]): Uint8Array =>
  Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))),
  )

const docx = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'

describe('the type of a file', () => {
  const cases: readonly (readonly [string, Uint8Array, string, string])[] = [
    ['a PNG', bytes([0x89], 'PNG\r\n', [0x1a], '\n'), 'text/html', 'image/png'],
    ['a JPEG', bytes([0xff, 0xd8, 0xff, 0xe0]), '', 'image/jpeg'],
    ['a WebP', bytes('RIFF', [0, 0, 0, 0], 'WEBPVP8 '), '', 'image/webp'],
    ['a wave', bytes('RIFF', [0, 0, 0, 0], 'WAVEfmt '), '', 'audio/wav'],
    ['an AVIF', bytes([0, 0, 0, 32], 'ftypavif'), '', 'image/avif'],
    ['a film', bytes([0, 0, 0, 32], 'ftypisom'), '', 'video/mp4'],
    ['a PDF declared as text', bytes('%PDF-1.7'), 'text/plain', 'application/pdf'],
    ['a document', bytes('PK', [3, 4, 0, 0]), docx, docx],
    ['a zip declared as an image', bytes('PK', [3, 4, 0, 0]), 'image/png', 'application/zip'],
    ['an executable', bytes('MZ', [0x90, 0]), 'image/png', 'application/x-msdownload'],
    ['bytes of no kind', bytes([1, 2, 3, 0]), 'image/png', 'application/octet-stream'],
    ['text', bytes('a,b\n1,2\n'), 'text/csv', 'text/csv'],
    ['JSON', bytes('{"a": 1}'), 'application/json', 'application/json'],
    ['text declared as an image', bytes('hello'), 'image/png', 'text/plain'],
    ['text with a cut character', bytes('gr', [0xc3]), 'text/plain', 'text/plain'],
    ['a page declared as text', bytes('\n <!DOCTYPE html><p>'), 'text/plain', 'text/html'],
    ['a page behind a mark', bytes([0xef, 0xbb, 0xbf], '<script>'), 'text/plain', 'text/html'],
    ['a page behind a comment', bytes('<!-- x --><body>'), 'text/markdown', 'text/html'],
    ['a page behind 9,000 comments', bytes('<!---->'.repeat(9_000), '<p>'), '', 'text/html'],
    ['9,000 comments and a word', bytes('<!---->'.repeat(9_000), 'x'), '', 'text/plain'],
    ['a comment without an end', bytes('<!-- <script>'), 'text/plain', 'text/html'],
    ['a text that begins as a picture does', bytes('BMW makes cars.'), '', 'text/plain'],
    ['a text that begins as a program does', bytes('MZ'), 'text/csv', 'text/csv'],
    ['a bitmap', bytes('BM', [70, 0, 0, 0]), '', 'image/bmp'],
    ['a drawing', bytes('<?xml version="1.0"?><svg xmlns="">'), 'image/png', 'image/svg+xml'],
    ['nothing', bytes(), 'image/png', 'text/plain'],
  ]
  it.each(cases)('[FL1] %s', (_, head, declared, expected) => {
    expect(refineType(sniffType(head, declared), declared)).toBe(expected)
  })
})

it('[FL1] a list of types has a type by name, by kind or as everything', () => {
  expect(isAccepted('image/png', ['image/png'])).toBe(true)
  expect(isAccepted('image/png', ['image/*'])).toBe(true)
  expect(isAccepted('image/png', ['*/*'])).toBe(true)
  expect(isAccepted('image/png', ['image/jpeg', 'text/*'])).toBe(false)
  expect(['image/png', 'image/svg+xml', 'text/html', 'application/pdf'].map(isShownInline)).toEqual(
    [true, false, false, false],
  )
})
