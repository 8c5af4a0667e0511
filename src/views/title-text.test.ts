import { expect, it } from 'vitest'
import { longestMadeTitle, toTitleText } from './title-text.ts'

it.each([
  ['Weather in Paris', 'Weather in Paris'],
  ['"Weather in Paris."', 'Weather in Paris'],
  ['**Title:** “Weather in Paris”', 'Weather in Paris'],
  ['Title: Weather in Paris', 'Weather in Paris'],
  ['# Weather in `Paris`\n\nIt says…', 'Weather in Paris'],
  ['\n\n  - *Weather*   in\tParis\r\n', 'Weather in Paris'],
  ['„Wetter in Paris“', 'Wetter in Paris'],
  ['«Météo à Paris»', 'Météo à Paris'],
  ['「パリの天気」。', 'パリの天気'],
  ['[Weather](https://example.com) in Paris', 'Weather in Paris'],
  ['What "done" means', 'What "done" means'],
  ['"A" and "B"', '"A" and "B"'],
  ['snake_case and __bold__ names', 'snake_case and bold names'],
  ['\u202Eevil\u202C\u0000 title\uFEFF', 'evil title'],
  ['C++ or Rust?', 'C++ or Rust?'],
])('[FK3] %j becomes a title of one plain line', (output, title) => {
  expect(toTitleText(output)).toBe(title)
})

it.each(['', ' \n ', '"…"', '***', '...', '\u200B'])('[FK3] %j is no title', (output) => {
  expect(toTitleText(output)).toBeNull()
})

it('[FK3] what is too long is cut at a word, or anywhere where there is none, and never inside a character', () => {
  const words = toTitleText('word '.repeat(50))
  expect(words).toMatch(/word…$/)
  expect(words?.length).toBeLessThanOrEqual(longestMadeTitle)
  const faces = toTitleText(`a${'😀'.repeat(100)}`)
  expect(faces?.length).toBeLessThanOrEqual(longestMadeTitle)
  expect(faces?.isWellFormed()).toBe(true)
})
