import { expect, it } from 'vitest'
import { toBasePath, withoutBasePath } from './base-path.ts'

it.each([
  ['', ''],
  ['/', ''],
  ['/chat', '/chat'],
  ['/chat/', '/chat'],
  ['/chat/v1', '/chat/v1'],
  ['/a/b/c.d/~e/', '/a/b/c.d/~e'],
  ['/%C3%A4', '/%C3%A4'],
])('[OP5d] %j is the base path %j', (given, path) => {
  expect(toBasePath(given)).toBe(path)
})

it.each([
  ['chat'],
  ['chat/'],
  ['//'],
  ['//chat'],
  ['/chat//'],
  ['/chat//v1'],
  ['/chat/../v1'],
  ['/.'],
  ['/%2E%2E'],
  ['/chat?x'],
  ['/chat#x'],
  ['/chat v1'],
  ['/ä'],
  ['/%c3'],
  ['/%'],
  ['\\chat'],
  ['https://example.com/chat'],
  [null],
  [7],
])('[OP5d] %j is no base path', (given) => {
  expect(toBasePath(given)).toBeNull()
})

it('[OP5d] a path is under a base path if the base path and a slash precede it', () => {
  expect(withoutBasePath('/chat/v1/api/threads', '/chat/v1')).toBe('/api/threads')
  expect(withoutBasePath('/chat/v10/api/threads', '/chat/v1')).toBeNull()
  expect(withoutBasePath('/chat/v1', '/chat/v1')).toBeNull()
  expect(withoutBasePath('/api/threads', '/chat/v1')).toBeNull()
  expect(withoutBasePath('/api/threads', '')).toBe('/api/threads')
})
