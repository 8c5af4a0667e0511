import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyOldMessages } from '../../test/support/any-old-messages.ts'
import { messagesOf } from '../../test/support/messages-of.ts'
import { isTurn, type Message } from '../core/message.ts'
import { randomLedger } from '../testing/random-ledger.ts'
import { createIdKeeper, toUnits } from './import-units.ts'
import { readLegacyMessages } from './read-legacy-messages.ts'
import { isImported, toOldMessage } from './turn-events.ts'
import { runToEnd } from '../core/pausable-work.ts'

/** The same thread, written again from what is stored of it. */
function writtenAgain(messages: readonly Message[]): readonly Message[] {
  const named = messages.map((message) => ({
    ...{ id: message.id, index: 0, message: toOldMessage(message) },
  }))
  const ids = createIdKeeper('thread')
  const mendAt = () => () => {
    throw new Error('There is nothing to mend in what is stored.')
  }
  const units = runToEnd(toUnits(named, { at: 0, ids, replyTo: null, isFollowed: false, mendAt }))
  return messagesOf(units.flatMap(({ events }) => events))
}

const withoutPlaces = (messages: readonly Message[]) =>
  messages.map(({ seq: _, ...message }) =>
    'lastSeq' in message ? { ...message, lastSeq: 0 } : message,
  )

describe('what was imported', () => {
  it('[LE8] is the same when it is written again from what is stored', () => {
    fc.assert(
      fc.property(anyOldMessages(), (old) => {
        const { events } = readLegacyMessages(old, { format: 'auto', threadId: 'thread', at: 5 })
        const messages = messagesOf(events)
        expect(messages.every(isImported)).toBe(true)
        expect(withoutPlaces(writtenAgain(messages))).toEqual(withoutPlaces(messages))
      }),
      { seed: 7, numRuns: 400 },
    )
  })

  it('[LE8] is distinguished from what the engine has made', () => {
    for (let seed = 1; seed <= 30; seed++) {
      const turns = messagesOf(randomLedger(seed)).filter(isTurn)
      const made = turns.filter(({ steps }) => steps.some(({ model }) => model !== undefined))
      expect(made.some(isImported)).toBe(false)
    }
  })
})
