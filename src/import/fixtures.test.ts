import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { isTurn } from '../core/message.ts'
import { messagesOf } from '../../test/support/messages-of.ts'
import { findPromptProblem } from '../../test/support/prompt-problem.ts'
import { projectChatMessage } from '../views/chat-message.ts'
import { projectEntityRows } from '../views/entity-rows.ts'
import { projectPrompt } from '../views/model-prompt.ts'
import { projectToolCalls } from '../views/tool-call-record.ts'
import { projectUiMessage } from '../views/ui-message.ts'
import { projectVercelMessage } from '../views/vercel-message.ts'
import type { LegacyFormat } from './old-shapes.ts'
import { readLegacyMessages } from './read-legacy-messages.ts'

/**
 * Old threads, and how they are read. `ui`, `vercel` and `entities` are compared whole; `chat` and
 * `toolCalls` in the fields that are given, where `null` also matches an absent field.
 */
interface Fixture {
  readonly name: string
  readonly format: LegacyFormat | 'auto'
  readonly input: readonly unknown[]
  readonly expected: Readonly<Record<string, readonly object[]>>
}

const folder = new URL('../../test/fixtures/legacy/', import.meta.url)
const fixtures = readdirSync(folder)
  .filter((file) => file.endsWith('.json'))
  .map((file) => JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Fixture)

describe('[LE1 LE2 LE3 LE4 ST3] old threads read as they should', () => {
  it('has a corpus', () => {
    expect(fixtures.length).toBeGreaterThan(11)
  })

  it.each(fixtures)('$name', ({ format, input, expected }) => {
    const reading = readLegacyMessages(input, { format, threadId: 'thread', at: 1_700_000_000_000 })
    const messages = messagesOf(reading.events)
    const { mended, failed } = reading
    const turns = messages.filter(isTurn)
    const seen: Readonly<Record<string, readonly object[]>> = {
      mended,
      failed,
      ui: messages.flatMap((message) => projectUiMessage(message, { sdk: 7 }) ?? []),
      vercel: messages.flatMap((message) => projectVercelMessage(message) ?? []),
      entities: messages.flatMap((message) => projectEntityRows(message)),
      chat: pick(
        messages.flatMap((message) => projectChatMessage(message) ?? []),
        expected.chat ?? [],
      ),
      toolCalls: pick(
        turns.flatMap((turn) => projectToolCalls(turn, 'thread', { include: 'all' }).toolCalls),
        expected.toolCalls ?? [],
      ),
    }
    const shown = Object.fromEntries(Object.keys(expected).map((view) => [view, seen[view]]))
    expect(shown).toEqual(expected)
    expect(findPromptProblem(projectPrompt(messages))).toBeUndefined()
  })
})

/** The fields of each that the expectation names. */
function pick(shown: readonly object[], expected: readonly object[]): readonly object[] {
  return shown.map((item, index) =>
    Object.fromEntries(
      Object.keys(expected[index] ?? item).map((field) => [
        field,
        (item as Readonly<Record<string, unknown>>)[field] ?? null,
      ]),
    ),
  )
}
