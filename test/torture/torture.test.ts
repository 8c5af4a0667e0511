import { describe, expect, inject, it } from 'vitest'
import { type Evidence, findViolations, Shown } from './evidence.ts'
import { faults } from './faults.ts'
import { torture } from './torture-run.ts'

/** The short form, two minutes of it: one over each store, at once. `npm run torture` is the long one. */
const seconds = 60
/** A run ends when enough has happened, however long that takes; then people decide what is left, and all is read. */
const limitMs = 600_000

describe('a torture run', () => {
  // Both at once: most of the time of a run is waiting for what it has broken.
  it.concurrent.each(['sqlite', 'postgres'] as const)(
    '[OP7 CR1 CR4 LG4] over %s loses nothing that was shown, runs nothing twice, leaves nothing stuck',
    { timeout: limitMs },
    async (store) => {
      const postgresUrl = inject('postgresUrl')
      const until = (counts: ReadonlyMap<string, number>) => {
        const harmed = faults.filter(({ name }) => counts.has(`fault: ${name}`))
        return (counts.get('turns answered whole') ?? 0) >= 5 && harmed.length >= 5
      }
      const report = await torture({ store, postgresUrl, seed: 14, seconds, until })
      expect(report.violations).toEqual([])
      // That something happened.
      expect(until(report.counts)).toBe(true)
    },
  )
})

describe('the judge of a torture run', () => {
  const idle = { heap: 30_000_000, rss: 120_000_000 }

  /** One thread, one turn, one charge: all as it should be. */
  function goodEvidence(): Evidence {
    const shown = new Shown()
    shown.addMessage('thread', 'question')
    const turn = shown.turnOf('thread', 'turn')
    turn.addText('About to')
    turn.addText('About to charge.')
    turn.addCall('call')
    turn.addCall('call', { n: 1, name: 'charge' })
    const charge = {
      type: 'tool-charge',
      toolCallId: 'call',
      state: 'output-available',
      output: { name: 'charge', n: 1 },
    }
    const parts = [{ type: 'text', text: 'About to charge. ' }, charge]
    return {
      shown,
      pages: new Map([
        [
          'thread',
          [
            { id: 'turn', role: 'assistant', parts },
            { id: 'question', role: 'user', parts: [] },
          ],
        ],
      ]),
      calls: [{ id: 'call', name: 'charge', state: 'succeeded' }],
      trace: ['charge 1 call'],
      stuck: [],
      endless: [],
      gaps: [],
      crashes: [],
      memory: { before: idle, after: idle },
      problems: [],
    }
  }

  /** The same with the messages of the page changed. */
  const withPage = (
    change: (
      messages: NonNullable<ReturnType<Evidence['pages']['get']>>,
    ) => NonNullable<ReturnType<Evidence['pages']['get']>>,
  ): Partial<Evidence> => {
    const [thread = ['', []]] = goodEvidence().pages
    return { pages: new Map([[thread[0], change(thread[1])]]) }
  }
  const withParts = (change: (index: number) => boolean): Partial<Evidence> =>
    withPage((messages) =>
      messages.map((message) => ({
        ...message,
        parts: message.parts.filter((_, index) => change(index)),
      })),
    )

  it('finds nothing where nothing is wrong', () => {
    expect(findViolations(goodEvidence())).toEqual([])
  })

  const breaks: readonly (readonly [string, Partial<Evidence>, RegExp])[] = [
    ['a message', withPage((all) => all.filter(({ id }) => id !== 'question')), /^LG6 missing/],
    ['a turn', withPage((all) => all.filter(({ id }) => id !== 'turn')), /^LG4 missing: the turn/],
    ['text', withParts((index) => index !== 0), /^LG4 missing: text/],
    ['a call', withParts((index) => index !== 1), /^LG4 missing: the call/],
    [
      'a result that was another',
      withPage((all) =>
        all.map((message) => ({
          ...message,
          parts: message.parts.map((part) => ({ ...part, output: { n: 2 } })),
        })),
      ),
      /^LG4 changed/,
    ],
    ['a second charge', { trace: ['charge 1 call', 'charge 1 other'] }, /^CR4 double/],
    ['a charge that never was', { trace: [] }, /^CR4 invented/],
    ['a turn without an end', { stuck: ['thread'] }, /^CR1 stuck/],
    ['a stream without an end', { endless: ['thread'] }, /^RS7 endless/],
    ['an open call', { calls: [{ id: 'call', name: 'charge', state: 'running' }] }, /^CR1 open/],
    ['a gap', { gaps: ['thread after 3'] }, /^LG1 gap/],
    ['a crash', { crashes: ['out of memory'] }, /^CR1 crash/],
    ['a heap', { memory: { before: idle, after: { ...idle, heap: 9e8 } } }, /^OP7 memory: heap/],
    ['memory', { memory: { before: idle, after: { ...idle, rss: 9e8 } } }, /^OP7 memory: rss/],
    ['a problem', { problems: ['a ghost'] }, /^CR6 check/],
  ]
  it.each(breaks)('[CR1] sees %s', (_, broken, expected) => {
    const violations = findViolations({ ...goodEvidence(), ...broken })
    expect(violations).toHaveLength(1)
    expect(violations[0]).toMatch(expected)
  })
})
