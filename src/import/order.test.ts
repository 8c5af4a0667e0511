import { describe, expect, it } from 'vitest'
import type { Json } from '../core/json.ts'
import { findOrder } from './order.ts'
import { runToEnd } from '../core/pausable-work.ts'
import { readLegacyMessages } from './read-legacy-messages.ts'

const at = (second: number) => new Date(1_700_000_000_000 + second * 1_000).toISOString()
const user = (id: string, createdAt?: string): Json => message('user', id, createdAt)
const answer = (id: string, createdAt?: string): Json => message('assistant', id, createdAt)
const message = (role: string, id: string, createdAt?: string): Json => ({
  ...{ id, role, content: id },
  ...(createdAt === undefined ? {} : { createdAt }),
})
const row = (
  id: string | number,
  entity: string,
  more: Readonly<Record<string, Json>> = {},
): Json => ({
  ...{ id, entity, content: String(id), isComplete: true },
  ...more,
})
const call = (id: string) => ({ toolCalls: [{ id, name: 'search', arguments: '{}' }] })
const result = (id: string) => ({ content: { tool_call_id: id, content: 1 } })

const orderOf = (values: readonly Json[], pages?: readonly number[]) => {
  const { places, basis, isGuess } = runToEnd(findOrder(values, pages))
  const ids = places.map((place) => (values[place] as { readonly id: string }).id)
  return { ids, basis, isGuess }
}

describe('the order of a list', () => {
  it.each([
    ['as given', [user('u1', at(1)), answer('a1', at(2)), user('u2', at(3))], 'u1 a1 u2', 'given'],
    [
      'newest first',
      [answer('a2', at(4)), user('u2', at(3)), answer('a1', at(2)), user('u1', at(1))],
      'u1 a1 u2 a2',
      'dates',
    ],
    ['a page of two', [user('u2', at(3)), answer('a1', at(2))], 'a1 u2', 'dates'],
    [
      'a page that looks right',
      [user('u3', at(5)), answer('a2', at(4)), user('u2', at(3)), answer('a1', at(2))],
      'a1 u2 a2 u3',
      'dates',
    ],
    [
      'one date for question and answer',
      [answer('a2', at(2)), user('u2', at(2)), answer('a1', at(1)), user('u1', at(1))],
      'u1 a1 u2 a2',
      'dates',
    ],
    [
      'not sorted at all',
      [user('u2', at(3)), answer('a1', at(2)), answer('a2', at(4)), user('u1', at(1))],
      'u1 a1 u2 a2',
      'dates',
    ],
  ])('[LE8] is found by dates: %s', (_, values, ids, basis) => {
    expect(orderOf(values)).toEqual({ ids: ids.split(' '), basis, isGuess: false })
  })

  it('[LE8] of rows that share a date is found by what they are', () => {
    const t = { creationDate: at(1) }
    const rows = [
      row('m4', 'AI_MESSAGE', t),
      row('m3', 'TOOL', { ...t, ...result('c') }),
      row('m2', 'AI_TOOL', { ...t, ...call('c') }),
      row('m1', 'USER', t),
    ]
    for (const values of [rows, rows.toReversed()]) {
      expect(orderOf(values).ids).toEqual(['m1', 'm2', 'm3', 'm4'])
    }
    const [m4, m3, m2, m1] = rows as [Json, Json, Json, Json]
    const later = row('n1', 'USER', { creationDate: at(2) })
    expect(orderOf([m1, m4, m3, m2, later]).ids).toEqual(['m1', 'm2', 'm3', 'm4', 'n1'])
  })

  it.each([
    ['numbers', ['101', '102', '103', '104']],
    ['a word and a number', ['msg-9', 'msg-10', 'msg-11', 'msg-12']],
    [
      'UUIDs of version 7',
      ['1', '2', '3', '4'].map((n) => `0190163d-8694-739b-aea5-966c26f8ad9${n}`),
    ],
    ['ULIDs', ['1', '2', '3', '4'].map((n) => `01ARZ3NDEKTSV4RRFFQ69G5FA${n}`)],
    ['ids of MongoDB', ['1', '2', '3', '4'].map((n) => `65f1c0ff00000000000000a${n}`)],
  ])('[LE8] is found by ids that grow: %s', (_, ids) => {
    const [first, second, third, fourth] = ids as [string, string, string, string]
    const list = [user(first), answer(second), user(third), answer(fourth)]
    expect(orderOf(list.toReversed())).toEqual({ ids, basis: 'ids', isGuess: false })
    expect(orderOf(list)).toEqual({ ids, basis: 'given', isGuess: false })
  })

  it('[LE8] without dates and ids is found by its shape, and reported as a guess', () => {
    const list = [user('x'), answer('y'), user('z'), answer('w')]
    expect(orderOf(list)).toEqual({ ids: ['x', 'y', 'z', 'w'], basis: 'given', isGuess: false })
    expect(orderOf(list.toReversed())).toEqual({
      ids: ['x', 'y', 'z', 'w'],
      basis: 'shape',
      isGuess: true,
    })
    expect(orderOf(list.slice(0, 3))).toMatchObject({ basis: 'given', isGuess: true })
  })

  it('[LE8] of a page that looks the same either way is newest first, as list routes answer', () => {
    const page = [user('z'), answer('y'), user('x')]
    expect(orderOf(page, [1, 1, 1])).toEqual({
      ids: ['x', 'y', 'z'],
      basis: 'shape',
      isGuess: true,
    })
    expect(orderOf(page).ids).toEqual(['z', 'y', 'x'])
  })

  it('[LE8] is not turned round by two clocks that differ', () => {
    const list = [
      ...[user('u1', at(1)), answer('a1', at(3))],
      ...[user('u2', at(11)), answer('a2', at(10)), user('u3', at(20)), answer('a3', at(25))],
    ]
    expect(orderOf(list)).toMatchObject({
      ids: ['u1', 'a1', 'u2', 'a2', 'u3', 'a3'],
      basis: 'given',
    })
  })

  it('[LE8] of several pages is that of the pages and of what is in them', () => {
    const [one, two] = [
      [user('p'), answer('q')],
      [user('r'), answer('s')],
    ] as const
    const ids = ['p', 'q', 'r', 's']
    expect(orderOf([...two.toReversed(), ...one.toReversed()], [1, 1, 2, 2]).ids).toEqual(ids)
    const dated = (list: readonly Json[], from: number) =>
      list.map((item, index) => ({ ...(item as object), createdAt: at(from + index) }))
    const [early, late] = [dated(one, 1), dated(two, 10)]
    expect(orderOf([...late, ...early], [1, 1, 2, 2]).ids).toEqual(ids)
    expect(orderOf([...late.toReversed(), ...early.toReversed()], [1, 1, 2, 2]).ids).toEqual(ids)
  })

  it('[LE8] that is known is kept, and assumptions are reported', () => {
    const read = (list: readonly Json[], isOrdered = false) =>
      readLegacyMessages(list, { format: 'auto', threadId: 't', at: 0, isOrdered })
    const list = [user('b', at(2)), user('a', at(1))]
    const idsOf = ({ events }: ReturnType<typeof read>) =>
      events.flatMap((event) => ('messageId' in event ? [event.messageId] : []))
    expect(idsOf(read(list, true))).toEqual(['b', 'a'])
    expect(idsOf(read(list))).toEqual(['a', 'b'])
    expect(read(list).mended).toEqual([
      {
        where: 'messages[0]',
        what: 'It is not given oldest first: it was put in order by its dates.',
      },
    ])
    expect(read([user('x'), user('y')]).guessed).toEqual([
      {
        where: 'messages[0]',
        what: 'The order is as it is given, oldest first: dates and ids do not settle it.',
      },
    ])
  })
})
