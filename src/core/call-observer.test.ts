import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { callObserver } from './call-observer.ts'

const fault = new Error('The log server is down.')

// oxlint-disable-next-line no-thenable -- that is what it is about
const thenable = (property: PropertyDescriptor) => Object.defineProperty({}, 'then', property)

it.each<[string, () => unknown, readonly unknown[]]>([
  ['returns', () => 1, []],
  ['returns later', async () => 1, []],
  [
    'throws',
    () => {
      throw fault
    },
    [fault],
  ],
  ['rejects', () => Promise.reject(fault), [fault]],
  // A promise of another realm, or of a library, is no `Promise` of this one.
  [
    'rejects in a way of its own',
    () => thenable({ value: (_: unknown, no: (e: unknown) => void) => no(fault) }),
    [fault],
  ],
  [
    'returns what cannot be read',
    () =>
      thenable({
        get() {
          throw fault
        },
      }),
    [fault],
  ],
])('[OP7 HT6] an observer that %s: what it throws is handled', async (_, call, expected) => {
  const thrown: unknown[] = []
  callObserver(call, (error) => thrown.push(error))
  await setImmediate()
  expect(thrown).toEqual(expected)
})
