import { describe, expect, it } from 'vitest'
import { type ChatServer, startChatServer } from './chat-server.ts'

interface UiPart {
  readonly type: string
  readonly toolCallId?: string
  readonly [key: string]: unknown
}
interface Message {
  readonly id: string
  readonly role: string
  readonly parts: readonly UiPart[]
}

const post = async (server: ChatServer, path: string, body: unknown) => {
  const response = await fetch(`${server.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
  return { status: response.status, text, body: isJson ? (JSON.parse(text) as unknown) : null }
}

const sendMessage = (server: ChatServer, id: string, text: string) =>
  post(server, '/api/chat', {
    id: 't',
    messages: [{ id, role: 'user', parts: [{ type: 'text', text }] }],
  })

const readLast = async (server: ChatServer): Promise<Message> => {
  const response = await fetch(`${server.url}/api/threads/t/messages?limit=1`)
  const page = (await response.json()) as { readonly results: readonly Message[] }
  return page.results[0] as Message
}

/** The message as a client sends it back that has run the tool `ask`. */
const withOutput = (message: Message, change: object): Message => ({
  ...message,
  parts: message.parts.map((part) => (part.type === 'tool-ask' ? { ...part, ...change } : part)),
})

async function waiting(): Promise<{ server: ChatServer; message: Message }> {
  const server = await startChatServer((text, step) =>
    text === 'ask' && step === 0
      ? [{ call: 'ask', input: { question: 'ok?' } }]
      : [{ text: 'Fine.' }],
  )
  await sendMessage(server, 'u1', 'ask')
  return { server, message: await readLast(server) }
}

const answer = (server: ChatServer, message: Message) =>
  post(server, '/api/chat', { id: 't', messages: [message] })

const result = { state: 'output-available', output: { ok: true } }

describe('the result of a tool that the client runs', () => {
  it('[CL2a] after a stop gets 409, and changes nothing', async () => {
    const { server, message } = await waiting()
    expect((await post(server, '/api/chat/t/stop', {})).body).toEqual({ status: 'stopped' })
    const before = await readLast(server)
    const late = await answer(server, withOutput(message, result))
    expect([late.status, late.body]).toEqual([
      409,
      {
        error: {
          code: 'already-ended',
          message: 'This result came too late and was not stored: the call is stopped.',
          callId: message.parts.find(({ type }) => type === 'tool-ask')?.toolCallId,
          state: 'stopped',
        },
      },
    ])
    expect(await readLast(server)).toEqual(before)
    const failed = withOutput(message, { state: 'output-error', errorText: 'it broke' })
    expect((await answer(server, failed)).status).toBe(409)
    expect(server.calls).toHaveLength(1)
  })

  it('[CL2a] after a newer message gets 409', async () => {
    const { server, message } = await waiting()
    await sendMessage(server, 'u2', 'never mind')
    const late = await answer(server, withOutput(message, result))
    expect(late.body).toMatchObject({ error: { code: 'already-ended', state: 'interrupted' } })
  })

  it('[CL2a] is taken once: the same again is no news, another one is too late', async () => {
    const { server, message } = await waiting()
    expect((await answer(server, withOutput(message, result))).text).toContain('Fine.')
    const again = await answer(server, withOutput(message, result))
    expect([again.status, again.text.includes('Fine.')]).toEqual([200, true])
    const other = withOutput(message, { ...result, output: { ok: false } })
    expect((await answer(server, other)).body).toMatchObject({
      error: { code: 'already-ended', state: 'succeeded' },
    })
    expect(JSON.stringify(await readLast(server))).toContain('{"ok":true}')
  })

  it('[CL2a] of a message that was sent back as it is shown is no news', async () => {
    const { server } = await waiting()
    await post(server, '/api/chat/t/stop', {})
    expect((await answer(server, await readLast(server))).status).toBe(200)
  })

  it('[CL2a] for a call that nobody made, or that the server runs, is refused', async () => {
    const { server, message } = await waiting()
    const parts = [{ type: 'tool-ask', toolCallId: 'call_none', ...result }]
    expect((await answer(server, { ...message, parts })).body).toMatchObject({
      error: { code: 'call-not-found' },
    })
    const last = await readLast(server)
    expect(last).toEqual(message)
  })
})
