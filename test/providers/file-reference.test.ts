import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createHoldfast, type FileReference } from 'holdfast'
import { sqlite } from 'holdfast/sqlite'
import { describe, expect, it } from 'vitest'
import { temporaryFile } from '../sqlite/temporary-file.ts'
import { messagesWire } from './messages-wire.ts'
import { responsesWire } from './responses-wire.ts'

const png = Uint8Array.from(
  Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
    'base64',
  ),
)

/** A provider that keeps what it is sent, and says yes. */
function listen(wire: typeof responsesWire) {
  const sent: string[] = []
  const answer: typeof fetch = async (_, init) => {
    if (typeof init?.body === 'string') sent.push(init.body)
    const body = wire.frames([{ text: ['Yes.'] }], 'stop').join('')
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  }
  return { sent, fetch: answer }
}

const open = (settings: Parameters<typeof createOpenAI>[0]) =>
  createOpenAI({ apiKey: 'key', ...settings })('gpt-5')
const claude = (settings: Parameters<typeof createAnthropic>[0]) =>
  createAnthropic({ apiKey: 'key', ...settings })('claude-sonnet-4-5')

const providers = {
  openai: { wire: responsesWire, model: open },
  anthropic: { wire: messagesWire, model: claude },
} as const

async function sendWithFile(name: keyof typeof providers, reference: FileReference) {
  const { wire, model } = providers[name]
  const { sent, fetch } = listen(wire)
  const store = sqlite(temporaryFile())
  const holdfast = createHoldfast({ store, model: model({ fetch }), files: { reference } })
  const file = await holdfast.files.add({ ownerId: 'ana', content: png })
  const parts = [
    { type: 'text', text: 'What is it?' },
    { type: 'file', mediaType: file.mediaType, url: file.url },
  ] as const
  await holdfast.send({
    threadId: 't',
    message: { id: 'u', parts },
    create: { ownerId: 'ana', title: '' },
  })
  await holdfast.settled()
  const page = await holdfast.messages('t', { format: 'ledger' })
  expect(page?.results[0]).toMatchObject({ progress: { ending: { kind: 'completed' } } })
  await holdfast.close()
  await store.close()
  return { file, sent }
}

describe.each(['openai', 'anthropic'] as const)('a file that %s has', (name) => {
  it('[FL2] is sent by the provider’s own id where the host gives one, and its bytes are not', async () => {
    const asked: unknown[] = []
    const { file, sent } = await sendWithFile(name, async ({ id, sha256 }, { provider, read }) => {
      asked.push([id, sha256, provider, await read()])
      return { openai: 'file-of-openai', anthropic: 'file-of-anthropic' }
    })
    expect(asked).toEqual([[file.id, file.sha256, name, Buffer.from(png)]])
    expect(sent).toHaveLength(1)
    expect(sent[0]).toContain(`file-of-${name}`)
    expect(sent[0]).not.toContain('iVBOR')
  })

  it.each([
    ['has none', () => undefined],
    ['has one of another provider', () => ({ google: 'x' })],
    [
      'fails',
      () => {
        throw new Error('no')
      },
    ],
  ])('[FL2] is sent as bytes where the host %s', async (_, reference) => {
    const { sent } = await sendWithFile(name, reference)
    expect(sent).toHaveLength(1)
    expect(sent[0]).toContain('iVBOR')
  })
})
