import { createHandler, listen } from 'holdfast/server'
import { createHoldfast, memory } from 'holdfast'
import { describe, expect, it, onTestFinished } from 'vitest'
import { finish, partModel, type ProviderPart, textParts } from '../support/part-model.ts'
import { openTab } from './chat-tab.ts'
import { readPage } from './thread-page.ts'

/** What providers in use have sent, and what their types do not allow. */
const part = (value: object): ProviderPart => value as ProviderPart

const odd: readonly (readonly [string, unknown])[] = [
  ['undefined', undefined],
  ['null', null],
  ['a number', 5],
  ['an object', { a: 1 }],
  ['a list', ['x']],
  ['a BigInt', 5n],
  ['a symbol', Symbol('s')],
]

/** One question to a model that says this, in an unmodified `useChat`: what the tab shows, and what a reload does. */
async function streamParts(parts: readonly ProviderPart[]) {
  const { model } = partModel([...parts, ...textParts('Fine.'), finish()])
  const holdfast = createHoldfast({ store: memory(), model, maxRetries: 0, recoverEveryMs: 0 })
  const listening = await listen(createHandler(holdfast), { port: 0, host: '127.0.0.1' })
  onTestFinished(async () => {
    await listening.close()
    await holdfast.close()
  })
  const { url } = listening
  const tab = openTab({ url, threadId: 'thread-1', client: 7 })
  await tab.chat.sendMessage({ text: 'go' })
  const page = await readPage({ url, threadId: 'thread-1', sdk: 7 })
  return { error: tab.chat.error, shown: tab.messages(), page }
}

const partsOf = ({ page }: Awaited<ReturnType<typeof streamParts>>) =>
  page.at(-1)?.parts.filter(({ type }) => type !== 'step-start')
const fine = { type: 'text', text: 'Fine.', state: 'done' }

describe.each(odd)('a model that says %s where a text belongs', (_, value) => {
  it.each([
    ['the address of a source', { type: 'source', sourceType: 'url', id: 's', url: value }],
    ['the id of a source', { type: 'source', sourceType: 'url', id: value, url: 'https://a.b/' }],
    [
      'the title of a document',
      { type: 'source', sourceType: 'document', id: 's', mediaType: 'text/plain', title: value },
    ],
    [
      'the type of a file',
      { type: 'file', mediaType: value, data: { type: 'data', data: 'aGk=' } },
    ],
    ['the kind of a part', { type: 'custom', kind: value }],
  ])(
    '[ST3a FD1 RS3] as %s is left out, and the answer is shown and stored',
    async (_where, odd) => {
      const asked = await streamParts([part(odd)])
      expect(asked.error).toBeUndefined()
      expect(partsOf(asked)).toEqual([fine])
      expect(asked.shown).toEqual(asked.page)
    },
  )

  it('[FD1 RS3] as an optional field of a source loses the field alone', async () => {
    const asked = await streamParts([
      part({ type: 'source', sourceType: 'url', id: 's', url: 'https://a.b/', title: value }),
    ])
    expect(asked.error).toBeUndefined()
    expect(partsOf(asked)).toEqual([
      { type: 'source-url', sourceId: 's', url: 'https://a.b/' },
      fine,
    ])
    expect(asked.shown).toEqual(asked.page)
  })
})

it.each(odd.filter(([, value]) => typeof value !== 'object' || Array.isArray(value)))(
  '[FD1 RS3] metadata of a provider that is %s is left out, and the rest of it is not',
  async (_, value) => {
    const providerMetadata = { odd: value, sound: { id: 'x' } }
    const asked = await streamParts([
      part({ type: 'text-start', id: 'a', providerMetadata }),
      part({ type: 'text-delta', id: 'a', delta: 'So.' }),
      part({ type: 'text-end', id: 'a' }),
    ])
    expect(asked.error).toBeUndefined()
    const metadata = typeof value === 'bigint' ? {} : { providerMetadata: { sound: { id: 'x' } } }
    expect(partsOf(asked)).toEqual([
      { type: 'text', text: 'So.', state: 'done', ...metadata },
      fine,
    ])
    expect(asked.shown).toEqual(asked.page)
  },
)
