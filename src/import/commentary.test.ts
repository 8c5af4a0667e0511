import { expect, it } from 'vitest'
import { stripCommentary } from './commentary.ts'

it.each([
  ['Let me look. It is 18.', ['Let me look.'], 'It is 18.'],
  ['Let me look.It is 18.', ['Let me look.'], 'It is 18.'],
  ['\n Let me look.\n\nOnce more.\n\nIt is 18.', ['Let me look.', 'Once more.'], 'It is 18.'],
  ['Let me\r\nlook.\r\n\r\nIt is 18.', ['Let me\nlook.'], 'It is 18.'],
  ['Look (a.b)?  Yes. 18.', ['Look (a.b)? Yes.'], '18.'],
  ['Look aXb. 18.', ['Look a.b.'], 'Look aXb. 18.'],
  ['LookingIt is 18.', ['Looking'], 'It is 18.'],
  ['Let me look.', ['Let me look.'], ''],
  ['It is 18. Let me look.', ['Let me look.'], 'It is 18. Let me look.'],
  ['Let me look. Let me look. 18.', ['Let me look.'], 'Let me look. 18.'],
  ['It is 18.', ['I'], 'It is 18.'],
  ['Once more. Done.', ['Let me look.', 'Once more.'], 'Done.'],
  ['  It is 18.', ['', ' '], '  It is 18.'],
])('[LE3] %j without %j is %j', (content, commentary, answer) => {
  expect(stripCommentary(content, commentary)).toBe(answer)
})
