import { expect, it } from 'vitest'
import { errorTextOfThrown } from './error-text.ts'

class HttpError extends Error {
  override readonly name = 'HttpError'
}
const getter = {
  get message(): string {
    throw new Error('no')
  },
}
const circle: Record<string, unknown> = {}
circle['message'] = circle
const words = (message: unknown) => Object.assign(new Error('x'), { message })

it.each<readonly [thrown: unknown, text: string]>([
  [new Error('broken'), 'broken'],
  [new Error(''), 'Error'],
  [new HttpError(), 'HttpError'],
  [new Error('', { cause: new Error('the disk') }), 'the disk'],
  [new Error({ why: 1 } as never), 'Error'],
  [words({ detail: 'inside' }), '{"detail":"inside"}'],
  [words(undefined), 'Error'],
  [new DOMException('gone', 'AbortError'), 'gone'],
  [new AggregateError([new Error('one'), 'two', null], 'all failed'), 'all failed; one; two'],
  [new AggregateError([new Error('one'), new Error('one')]), 'one'],
  ['just words', 'just words'],
  [new Error('y'.repeat(1_000_000)), `${'y'.repeat(10_000)} …`],
  ['  ', ''],
  ['{"error":{"message":"inside"}}', 'inside'],
  [new Error('{"error": "overloaded"}'), 'overloaded'],
  ['{"code":7}', '{"code":7}'],
  ['[object Object]', ''],
  [{ message: 'like an error' }, 'like an error'],
  [{ error: { message: 'of a server' } }, 'of a server'],
  [{ code: 7 }, '{"code":7}'],
  [{}, ''],
  [[], ''],
  [null, ''],
  [undefined, ''],
  [42, '42'],
  [10n, '10'],
  [Symbol('why'), 'why'],
  [() => 1, ''],
  [true, ''],
  [getter, ''],
  [circle, ''],
  [{ long: 'x'.repeat(5_000) }, `{"long":"${'x'.repeat(991)}…`],
])('[ST3a] makes a readable text of what was thrown (%#)', (thrown, text) => {
  expect(errorTextOfThrown(thrown)).toBe(text)
})
