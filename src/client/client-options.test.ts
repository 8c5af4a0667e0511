import { describe, expect, it } from 'vitest'
import type { OptionRule } from '../core/check-options.ts'
import { HoldfastError } from '../core/holdfast-error.ts'
import { chatTransportRules, createChatTransport } from './chat-transport.ts'
import { createThreadClient } from './thread-client.ts'
import { threadClientRules } from './thread-client-options.ts'
import { createThreadListClient, listRules } from './thread-list-client.ts'
import { createToolCallsClient, toolCallsClientRules } from './tool-calls-client.ts'

const thread = () => createThreadClient({ threadId: 'a' })
const calls = { messageId: 'm', thread }

type Door = readonly [string, Readonly<Record<string, OptionRule>>, (change: object) => unknown]
const doors: readonly Door[] = [
  [
    'createThreadClient',
    threadClientRules,
    (change) => createThreadClient({ threadId: 'a', ...change }),
  ],
  ['createThreadListClient', listRules, (change) => createThreadListClient(change)],
  [
    'createToolCallsClient',
    toolCallsClientRules,
    (change) => createToolCallsClient({ ...calls, ...change }),
  ],
  ['createChatTransport', chatTransportRules, (change) => createChatTransport(change)],
]

const wrong: readonly unknown[] = [0, -1, Number.NaN, 1.5, '', 'word', null, true, {}, [], 10n]

function faultOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (error instanceof HoldfastError) return `${error.code}: ${error.message}`
    return `another error: ${String(error)}`
  }
  return 'no error'
}

describe.each(doors)('%s', (where, rules, open) => {
  it.each(Object.entries(rules))('[CF1] says what is wrong with "%s"', (name, { range, fits }) => {
    const bad = wrong.filter((value) => !fits(value))
    expect(bad.length).toBeGreaterThan(5)
    for (const value of bad) {
      const fault = faultOf(() => open({ [name]: value }))
      expect(fault).toContain(`bad-option: ${where}: the option "${name}" must be ${range}, not `)
    }
  })

  it('[CF1] refuses unknown options, and treats undefined as absent', () => {
    const names = Object.keys(rules).join(', ')
    const fault = faultOf(() => open({ nonsenseXyz: 1 }))
    expect(fault).toBe(
      `bad-option: ${where} has no option "nonsenseXyz". Its options are ${names}.`,
    )
    const optional = Object.entries(rules).filter(([, rule]) => rule.default !== undefined)
    const absent = Object.fromEntries(optional.map(([name]) => [name, undefined]))
    expect(faultOf(() => open(absent))).toBe('no error')
  })
})

it.each([
  [{ threadId: 'a', pageSize: 201 }, createThreadClient, 'a whole number from 1 to 200, not 201'],
  [{ threadId: undefined }, createThreadClient, 'createThreadClient needs the option "threadId"'],
  [{ threadId: 'a', baseURL: 'x' }, createThreadClient, 'Did you mean "baseUrl"?'],
  [{ header: () => ({}) }, createThreadListClient, 'Did you mean "headers"?'],
  [{ messageId: 'm' }, createToolCallsClient, 'createToolCallsClient needs the option "thread"'],
  [{ api: '/api/chat' }, createChatTransport, 'has no option "api". Did you mean "baseUrl"?'],
  [{ sdk: '7' }, createChatTransport, '"sdk" must be 5, 6 or 7, not "7"'],
  [{ sdk: 4 }, createChatTransport, '"sdk" must be 5, 6 or 7, not 4'],
  [{ credential: 'include' }, createChatTransport, 'Did you mean "credentials"?'],
  [
    { credentials: 'yes' },
    createChatTransport,
    '"omit", "same-origin" or "include", a promise of it or a function, not "yes"',
  ],
  [
    { headers: [['a', 'b']] },
    createChatTransport,
    '"headers" must be an object of headers, a promise of it or a function, not a list',
  ],
  [5, createChatTransport, 'createChatTransport takes an object of options, not 5'],
])('[CF1] %j', (options, create, words) => {
  expect(() => create(options as never)).toThrow(words)
})

it.each([
  { headers: { a: 'b' }, body: { a: 1 }, credentials: 'include' },
  { headers: new Headers(), body: () => ({}), credentials: () => Promise.resolve('omit') },
  { headers: Promise.resolve({ a: 'b' }), body: Promise.resolve({}), sdk: 5 },
])('[CF1] a transport takes values, promises and functions', (options) => {
  expect(faultOf(() => createChatTransport(options as never))).toBe('no error')
})
