import { tool } from 'ai'
import type { Turn } from 'holdfast'
import type { ScriptPart } from 'holdfast/testing'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { projectChatMessage } from '../../src/views/chat-message.ts'
import { projectUiMessage } from '../../src/views/ui-message.ts'
import { projectVercelMessage } from '../../src/views/vercel-message.ts'
import { crash } from './crash.ts'
import type { Script } from './fixture.ts'

const hasText = ({ steps }: Turn): boolean =>
  steps.at(-1)?.parts.some((part) => part.type === 'text' && part.text !== '') === true

/** Two pieces of one size: the first is what is shown. */
const cutAt = (text: string): readonly ScriptPart[] => [
  { text: text + ' '.repeat(text.length), pieces: 2, pauseMs: 600_000 },
]

const look = tool({ inputSchema: z.object({}), execute: () => 'seen' })
const options = { tools: { look } }

const broken = (shown: string, after: readonly ScriptPart[] | Script, more: object = {}) =>
  crash({ script: cutAt(shown), after, options, ...more }, hasText)

/** What a screen shows as the answer's text, without what it may fold away. */
const read = (turn: Turn): string =>
  (projectUiMessage(turn)?.parts ?? [])
    .flatMap((part) => (part.type === 'text' && !('providerMetadata' in part) ? [part.text] : []))
    .join('|')

describe('a step that is run again after it had shown text', () => {
  const texts: readonly (readonly [string, string, string, string])[] = [
    ['repeats it', 'It is 18 degr', 'It is 18 degrees.', 'It is 18 degrees.'],
    ['carries on', 'It is 18 degr', 'ees.', 'It is 18 degrees.'],
    [
      'begins with the last words',
      'Paris is sunny and war',
      'sunny and warm.',
      'Paris is sunny and warm.',
    ],
    ['repeats it with other white space', 'One\ntwo ', 'One two three', 'One\ntwo three'],
    ['repeats less of it and ends', 'It is 18 degrees.', 'It is', 'It is 18 degrees.'],
    ['says nothing', 'It is 18 degrees.', '', 'It is 18 degrees.'],
    ['repeats characters of two halves', 'Up 👩‍🚀👩‍🚀', 'Up 👩‍🚀👩‍🚀 and away', 'Up 👩‍🚀👩‍🚀 and away'],
  ]
  for (const [name, shown, said, whole] of texts) {
    for (const pieces of [1, 3, said.length]) {
      it(`[AG8] is one text where the model ${name}, in ${pieces} pieces`, async () => {
        const { turn } = await broken(shown, said === '' ? [] : [{ text: said, pieces }])
        expect(turn.progress).toMatchObject({ status: 'ended', ending: { kind: 'completed' } })
        expect(turn.steps).toMatchObject([{ status: 'ended', resumedAfter: shown.length }])
        expect(read(turn)).toBe(whole)
        expect(projectChatMessage(turn)?.content).toBe(whole)
        expect(JSON.stringify(projectUiMessage(turn))).not.toContain('abandoned')
      })
    }
  }

  it('[AG8] marks the first attempt in every vocabulary where the model says something else', async () => {
    const { turn } = await broken('The weather in Par', [{ text: 'It is sunny.' }])
    expect(turn.steps).toMatchObject([{ status: 'abandoned' }, { status: 'ended' }])
    expect(read(turn)).toBe('It is sunny.')
    const marked = { type: 'text', text: 'The weather in Par', state: 'done' }
    const providerMetadata = { holdfast: { attempt: 'abandoned' } }
    for (const sdk of [5, 6, 7] as const) {
      const parts = projectUiMessage(turn, { sdk })?.parts
      expect(parts?.[1]).toEqual({ ...marked, providerMetadata })
    }
    const old = projectVercelMessage(turn)
    expect(old?.annotations?.[0]).toEqual({ part: 0, attempt: 'abandoned' })
    expect(old?.parts?.[0]).toEqual({ type: 'text', text: 'The weather in Par' })
    const chat = projectChatMessage(turn)
    expect(chat?.content).toBe('It is sunny.')
    expect(chat?.drafts).toEqual([{ text: 'The weather in Par', attempt: 'abandoned', step: 0 }])
  })

  it('[AG8] asks the model to carry on, and sends what was shown once', async () => {
    const { calls, holdfast, threadId, turn } = await broken('It is 18 degr', [
      { text: 'It is 18 degrees.' },
    ])
    const sent = calls[0]?.prompt ?? []
    expect(sent.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    expect(JSON.stringify(sent[1])).toContain('It is 18 degr')
    expect(JSON.stringify(sent[2])).toMatch(/broken off.*Carry on.*It is 18 degr/)
    const again = { id: 'again' as never, parts: [{ type: 'text', text: 'again' }] as const }
    await holdfast.send({ threadId, message: again })
    await holdfast.settled()
    const later = calls.at(-1)?.prompt ?? []
    expect(later.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    expect(JSON.stringify(later).split('It is 18').length).toBe(2)
    expect(JSON.stringify(later[1])).toContain('It is 18 degrees.')
    expect(read(turn)).toBe('It is 18 degrees.')
  })

  it('[AG8] gives the text as a prefix where the host says that the model takes one', async () => {
    const optionsAfter = { continueText: () => 'prefix' } as const
    const { calls, turn } = await broken('The capital is ', [{ text: 'Paris.' }], { optionsAfter })
    const sent = calls[0]?.prompt ?? []
    expect(sent.map(({ role }) => role)).toEqual(['user', 'assistant'])
    expect(JSON.stringify(sent[1])).toContain('"The capital is"')
    expect(read(turn)).toBe('The capital is Paris.')
  })

  it('[AG8] may go on with reasoning and a call, and the text is said before it', async () => {
    const after: Script = ({ index }) =>
      index === 0
        ? [{ reasoning: 'Hm.' }, { text: 'Let me look. ' }, { call: 'look', input: {} }]
        : [{ text: 'Seen.' }]
    const { turn, calls } = await broken('Let me lo', after)
    expect(turn.steps.map(({ status, parts }) => [status, parts.map(({ type }) => type)])).toEqual([
      ['ended', ['text', 'reasoning', 'call']],
      ['ended', ['text']],
    ])
    expect(read(turn)).toBe('Let me look. |Seen.')
    expect(calls[1]?.prompt.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
    expect(JSON.stringify(calls[1]?.prompt)).not.toContain('Hm.')
  })

  describe('where the model thinks for long before it says anything', () => {
    const thoughts = 'Hm. '.repeat(50_000)
    const shapeOf = ({ steps }: Turn) =>
      steps.map(({ status, parts }) => [
        status,
        parts.map((part) => ('text' in part ? `${part.type} ${part.text.length}` : part.type)),
      ])

    it.each([1, 3, 17])('[AG8] drops what it repeats in %d pieces', async (pieces) => {
      const said = { text: 'It is 18 degrees.', pieces }
      const { turn } = await broken('It is 18 degr', [{ reasoning: thoughts }, said])
      expect(shapeOf(turn)).toEqual([['ended', ['text 17', 'reasoning 200000']]])
      expect(read(turn)).toBe('It is 18 degrees.')
    })

    it('[AG8] drops what it repeats before and after it thinks', async () => {
      const after = [{ text: 'It is ' }, { reasoning: thoughts }, { text: '18 degrees.' }]
      const { turn } = await broken('It is 18 degr', after)
      expect(turn.steps).toHaveLength(1)
      expect(read(turn)).toBe('It is 18 degrees.')
    })

    it('[AG8] marks the first attempt where it then says something else', async () => {
      const after = [{ reasoning: thoughts }, { text: 'It is sunny.' }]
      const { turn } = await broken('The weather in Par', after)
      expect(shapeOf(turn)).toEqual([
        ['abandoned', ['text 18', 'reasoning 200000']],
        ['ended', ['text 12']],
      ])
      expect(read(turn)).toBe('It is sunny.')
    })

    it('[AG8] keeps the text where it then calls a tool', async () => {
      const after: Script = ({ index }) =>
        index === 0 ? [{ reasoning: thoughts }, { call: 'look', input: {} }] : [{ text: 'Seen.' }]
      const { turn } = await broken('Let me look. ', after)
      expect(turn.steps.map(({ status }) => status)).toEqual(['ended', 'ended'])
      expect(read(turn)).toBe('Let me look. |Seen.')
    })

    it('[AG8 ST4a] ends it at the limit of the answer where it never says anything', async () => {
      const after = Array.from({ length: 50 }, () => ({ reasoning: thoughts }))
      const optionsAfter = { maxTextChars: 300_013 }
      const { turn } = await broken('It is 18 degr', after, { optionsAfter })
      expect(shapeOf(turn)).toEqual([
        ['ended', ['text 13', 'reasoning 200000', 'reasoning 100000']],
      ])
      expect(read(turn)).toBe('It is 18 degr')
    })
  })

  it('[AG8] calls a tool at once: what was shown is its commentary', async () => {
    const after: Script = ({ index }) =>
      index === 0 ? [{ call: 'look', input: {} }] : [{ text: 'Seen.' }]
    const { turn } = await broken('Let me look. ', after)
    expect(turn.steps).toHaveLength(2)
    expect(projectChatMessage(turn)?.toolCalls[0]?.commentary).toBe('Let me look.')
    expect(read(turn)).toBe('Let me look. |Seen.')
  })

  it('[AG8] had several texts that had ended: the rest is one more', async () => {
    const { turn } = await crash(
      {
        script: [{ text: 'One. ' }, { text: 'Two. ' }, { waitMs: 600_000 }],
        after: [{ text: 'One. ' }, { text: 'Two. ' }, { text: 'Three.' }],
      },
      ({ steps }) => steps[0]?.parts.length === 2,
    )
    expect(turn.steps).toHaveLength(1)
    expect(read(turn)).toBe('One. |Two. |Three.')
  })

  it('[AG8] that had shown no text is run again as it was', async () => {
    const { turn } = await crash(
      { script: [{ reasoning: 'Hm.' }, { waitMs: 600_000 }], after: [{ text: 'Hello.' }] },
      ({ steps }) => steps[0]?.parts[0] !== undefined,
    )
    expect(turn.steps.map(({ status }) => status)).toEqual(['abandoned', 'ended'])
  })

  it('[AG8] keeps its text as the answer so far where nobody carries it on', async () => {
    const { turn } = await broken('It is 18 degr', [], { optionsAfter: { recovery: 'end' } })
    expect(turn.progress).toMatchObject({ ending: { kind: 'interrupted' } })
    expect(projectChatMessage(turn)?.content).toBe('It is 18 degr')
  })
})
