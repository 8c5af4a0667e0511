import { expect, it } from 'vitest'
import { createThreadClient } from './thread-client.ts'
import { createThreadListClient } from './thread-list-client.ts'

const open = (change: object) => createThreadClient({ threadId: 'a', ...change })

it.each([
  [{ pageSize: 0 }, '"pageSize" must be a whole number from 1 to 200, not 0'],
  [{ pageSize: 201 }, 'not 201'],
  [{ pageSize: '30' }, 'not "30"'],
  [{ threadId: '' }, '"threadId" must be a string that is not empty, not ""'],
  [{ threadId: undefined }, 'needs the option "threadId"'],
  [{ headers: {} }, '"headers" must be a function, not an object'],
  [{ baseURL: 'x' }, 'Did you mean "baseUrl"?'],
])('[CF1] a client says which option is wrong: %j', (change, words) => {
  expect(() => open(change)).toThrow(words)
})

it('[CF1] so does the list of threads', () => {
  expect(() => createThreadListClient({ header: () => ({}) } as never)).toThrow(
    'Did you mean "headers"?',
  )
})
