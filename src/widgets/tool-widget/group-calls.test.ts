import { describe, expect, it } from 'vitest'
import type { Call, CallOutcome } from '../../core/call.ts'
import { parseCallId } from '../../core/ids.ts'
import { englishStrings } from '../english-strings.ts'
import { alwaysShows, type CallLine, countStates, groupCalls } from './group-calls.ts'

const base = {
  type: 'call',
  providerCallId: 'p',
  step: 0,
  input: { kind: 'complete', value: {} },
  approval: 'not-required',
  createdAt: 0,
} as const
const ends: Readonly<Record<string, CallOutcome>> = {
  d: { state: 'succeeded', output: { kind: 'inline', value: 1 } },
  f: { state: 'failed', cause: 'tool-error', error: 'no' },
  u: { state: 'unknown', cause: 'crashed' },
  x: { state: 'denied', cause: 'denied' },
  s: { state: 'stopped', cause: 'stopped' },
}

/** A letter for each call: done, failed, unknown, denied (x), stopped, running, waiting. */
const linesOf = (letters: string): readonly CallLine[] =>
  letters.split('').map((letter, index) => {
    const id = parseCallId(`${letter}${index}`)
    const common = { ...base, id, name: id }
    const end = ends[letter]
    const call: Call =
      end !== undefined
        ? { ...common, startedAt: 1, endedAt: 2, ...end }
        : letter === 'r'
          ? { ...common, state: 'running', startedAt: 1 }
          : { ...common, state: 'awaiting-approval' }
    return { call, commentary: undefined }
  })

const letterOf = ({ call }: CallLine): string => call.id.charAt(0)
/** Groups in brackets, with the rows that each hides in parentheses. */
const grouped = (letters: string): string =>
  groupCalls(linesOf(letters))
    .map((entry) => {
      if (entry.kind === 'call') return letterOf(entry)
      const lines = entry.lines.map((line) =>
        alwaysShows(line) ? letterOf(line) : `(${letterOf(line)})`,
      )
      return `[${lines.join('')}]`.replaceAll(')(', '')
    })
    .join('')

describe('the calls of a long turn', () => {
  it.each([
    ['ddddd', 'ddddd'],
    ['dddddd', '[(dddddd)]'],
    ['dddfdd', '[(ddd)f(dd)]'],
    ['ddddddrd', '[(dddddd)]rd'],
    ['dddrddd', 'dddrddd'],
    ['ddddddwdddddd', '[(dddddd)]w[(dddddd)]'],
    ['ffffffd', 'ffffffd'],
    ['duxsfdd', '[(d)uxsf(dd)]'],
    ['', ''],
  ])(
    '[CO7] %s: long runs of ended ones are groups, which hide only what went well',
    (letters, shown) => {
      expect(grouped(letters)).toBe(shown)
    },
  )

  it('[CO7] are all there, once and in order, however they are grouped', () => {
    const letters = 'ddddddfddrddddddxw'
    const all = groupCalls(linesOf(letters)).flatMap((entry) =>
      entry.kind === 'call' ? [entry] : entry.lines,
    )
    expect(all.map(letterOf).join('')).toBe(letters)
  })

  it.each([
    ['dddddddddddd', '12 tools: 12 done'],
    ['fddddddddddd', '12 tools: 11 done, 1 failed'],
    ['dufxd', '5 tools: 2 done, 1 outcome unknown, 1 failed, 1 declined'],
  ])('[CO7] are counted by how they ended: %s', (letters, words) => {
    expect(englishStrings.callGroup(countStates(linesOf(letters)))).toBe(words)
  })
})
