import { expect, it } from 'vitest'
import { toDisposition, toFilename } from './file-name.ts'

it.each([
  ['photo.png', 'photo.png'],
  ['../../etc/passwd', '___.._etc_passwd'],
  ['C:\\Windows\\a.txt', 'C__Windows_a.txt'],
  ['.htaccess', '_htaccess'],
  ['a\u0000b\nc\u202Egpj.exe', 'abcgpj.exe'],
  ['e\u0301.txt', 'é.txt'],
  [`${'x'.repeat(300)}.pdf`, `${'x'.repeat(196)}.pdf`],
  ['  ', undefined],
  ['..', undefined],
  ['', undefined],
])('[FL1] the name %j is %j', (given, expected) => {
  expect(toFilename(given)).toBe(expected)
})

it('[FL1] a name cannot leave its header', () => {
  expect(toDisposition('attachment', 'a"; x="\r\nq.txt')).toBe(
    `attachment; filename="a__ x=___q.txt"; filename*=UTF-8''a%22%3B%20x%3D%22%0D%0Aq.txt`,
  )
})
