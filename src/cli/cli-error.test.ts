import { describe, expect, it } from 'vitest'
import { HoldfastError } from '../core/holdfast-error.ts'
import { explain } from './cli-error.ts'

const unreachable = (cause?: unknown) =>
  new HoldfastError('store-unreachable', 'It cannot be reached.', { cause })
const check = 'Check the address in --db or HOLDFAST_DB, and that the server runs.'

/** What Node throws for a name with several addresses: it has no message of its own. */
const several = new AggregateError([
  new Error('connect ECONNREFUSED ::1:5432'),
  new Error('connect ECONNREFUSED 127.0.0.1:5432'),
])

describe('a database that cannot be reached', () => {
  it.each([
    ['without a cause', undefined, ''],
    ['for one reason', new Error('connect ECONNREFUSED ::1:1'), 'connect ECONNREFUSED ::1:1.'],
    [
      'at several addresses',
      several,
      'connect ECONNREFUSED ::1:5432; connect ECONNREFUSED 127.0.0.1:5432.',
    ],
    ['for a reason in a reason', unreachable(new Error('No route.')), 'No route.'],
    ['on several lines', new Error('One.\nTwo \u001b[31m'), 'One.; Two \uFFFD[31m.'],
    [
      'with an address in its words',
      new Error('invalid: postgres://ana:Se@same/x@db/chat'),
      'invalid: postgres://…@db/chat.',
    ],
    ['and what was thrown is no error', 'word', ''],
  ])('says why: %s', (_, cause, told) => {
    const why = told === '' ? '' : ` The cause: ${told}`
    expect(explain(unreachable(cause))).toBe(`It cannot be reached.${why} ${check}`)
  })
})

it('says what PostgreSQL said of a fault that has no words of ours', () => {
  const cause = new Error('column "at" of relation "events" already exists')
  const fault = new HoldfastError('store-failed', 'PostgreSQL failed (42701).', { cause })
  expect(explain(fault)).toBe(
    'PostgreSQL failed (42701). The cause: column "at" of relation "events" already exists. Run `holdfast check` to see what is left.',
  )
})
