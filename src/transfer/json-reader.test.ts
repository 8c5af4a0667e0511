import { expect, it } from 'vitest'
import { JsonReader } from './json-reader.ts'

const values = [
  '"plain"',
  '""',
  String.raw`"\""`,
  String.raw`"\\"`,
  String.raw`"\\\""`,
  String.raw`"\\\\"`,
  String.raw`"\\" `.trim(),
  String.raw`{"a\\":"]\"}","b":["\\",{"c":"\u0022"}]}`,
  '[1,"two",{"three":[]}]',
  'true',
  '12.5',
]

async function* piecesOf(text: string, size: number): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size)
}

it('[LE5] the text of a value ends where JSON says, wherever its pieces are cut', async () => {
  const text = `[${values.join(',')}]`
  for (let size = 1; size <= text.length; size++) {
    const reader = new JsonReader(piecesOf(text, size))
    await reader.expect('[')
    const found: (string | null)[] = []
    do found.push(await reader.readText())
    while (await reader.consume(','))
    await reader.expect(']')
    expect(found, `in pieces of ${size}`).toEqual(values)
  }
})

it('[OP7b] others have their turn while a long value is read from memory', async () => {
  const text = JSON.stringify('words and more words, '.repeat(200_000))
  let hadTurn = false
  setImmediate(() => {
    hadTurn = true
  })
  // More work than one slice holds, and nothing that waits for anything.
  const slow = async function* () {
    for await (const piece of piecesOf(text, 65_536)) {
      const until = performance.now() + 1
      while (performance.now() < until);
      yield piece
    }
  }
  expect(await new JsonReader(slow()).readText()).toBe(text)
  expect(hadTurn).toBe(true)
})
