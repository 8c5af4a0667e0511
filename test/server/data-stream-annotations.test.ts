import { describe, expect, it } from 'vitest'
import { startChatServer, type Script } from './chat-server.ts'

type Annotation = Readonly<Record<string, unknown>>

interface OldMessage {
  readonly id: string
  readonly role: string
  readonly annotations?: readonly Annotation[]
}

/** A client of AI SDK 4: it adds every annotation to those it has, and takes none away. */
async function* readAnnotations(response: Response): AsyncGenerator<readonly Annotation[]> {
  const all: Annotation[] = []
  let rest = ''
  for await (const bytes of response.body!.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + bytes).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (!line.startsWith('8:')) continue
      all.push(...(JSON.parse(line.slice(2)) as Annotation[]))
      yield all
    }
  }
}

/** The rule for whoever reads them: the last of each call counts, and the last of the message. */
function lastOfEach(annotations: readonly Annotation[]): readonly Annotation[] {
  const last = new Map<unknown, Annotation>()
  for (const annotation of annotations) {
    last.set(annotation['toolCallId'] ?? annotation['messageId'], annotation)
  }
  return [...last.values()]
}

async function readAll(response: Response): Promise<readonly Annotation[]> {
  let all: readonly Annotation[] = []
  for await (const some of readAnnotations(response)) all = some
  return all
}

const threadId = 'old-client'

async function open(script: Script) {
  const { url, holdfast } = await startChatServer(script)
  const send = (text: string, id: string) =>
    fetch(`${url}/api/chat?protocol=data-stream`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        id: threadId,
        messages: [{ id, role: 'user', parts: [{ type: 'text', text }] }],
      }),
    })
  const page = async () => {
    const response = await fetch(`${url}/api/threads/${threadId}/messages?format=vercel`)
    const { results } = (await response.json()) as { results: readonly OldMessage[] }
    return results[0]
  }
  const post = (path: string, body: object = {}) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const replay = (messageId: string) =>
    fetch(`${url}/api/chat/${threadId}/stream?protocol=data-stream&message=${messageId}`)
  return { url, holdfast, send, page, post, replay }
}

describe('a client of AI SDK 4', () => {
  it('[RS4 FD4] gets while it streams what a reload returns of each call', async () => {
    const { send, page, replay } = await open((_, step) =>
      step === 0
        ? [
            { text: 'Looking.' },
            { call: 'weather', input: { city: 'Oslo' }, streamed: true },
            { call: 'boom', input: {} },
          ]
        : [{ text: 'Done.' }],
    )
    const live = await readAll(await send('go', 'u1'))
    const message = await page()
    expect(message?.annotations).toHaveLength(3)
    expect(lastOfEach(live)).toEqual(message?.annotations)
    // What does not change is said once.
    expect(live).toEqual(message?.annotations)
    expect(await readAll(await replay(message!.id))).toEqual(message?.annotations)
  })

  it('[RS4 FD4] sees that a call waits, was accepted or was refused', async () => {
    const { send, page, post, replay } = await open((_, step) =>
      step === 0
        ? [
            { call: 'remove', input: { path: '/a' } },
            { call: 'remove', input: { path: '/b' } },
          ]
        : [{ text: 'Done.' }],
    )
    const waiting = await readAll(await send('go', 'u1'))
    const message = (await page())!
    expect(waiting).toEqual(message.annotations)
    expect(waiting.map(({ validated }) => validated)).toEqual(['pending', 'pending', undefined])
    expect(waiting.at(-1)).toEqual({ messageId: message.id, isComplete: false })
    const [one, other] = waiting.map(({ toolCallId }) => String(toolCallId))
    await post(`/api/threads/${threadId}/decisions`, {
      decisions: [
        { callId: one, decision: 'accept' },
        { callId: other, decision: 'reject' },
      ],
    })
    const decided = await readAll(await replay(message.id))
    expect(lastOfEach([...waiting, ...decided])).toEqual((await page())?.annotations)
    expect(lastOfEach(decided).map(({ validated }) => validated)).toEqual([
      'accepted',
      'rejected',
      undefined,
    ])
  })

  it('[RS4 ST1] sees that a call was stopped, before a reload', async () => {
    const { send, page, post } = await open(() => [{ call: 'hang', input: {} }])
    let all: readonly Annotation[] = []
    let stopped: Promise<unknown> | undefined
    for await (const some of readAnnotations(await send('go', 'u1'))) {
      all = some
      stopped ??= post(`/api/chat/${threadId}/stop`)
    }
    await stopped
    const message = await page()
    expect(lastOfEach(all)).toEqual(message?.annotations)
    expect(all.map(({ isComplete }) => isComplete)).toEqual([true, false, false])
  })

  it('[RS4] hears it before an error, after which it hears nothing', async () => {
    const { send, page } = await open((_, step) =>
      step === 0
        ? [{ call: 'weather', input: { city: 'Oslo' } }]
        : [{ fails: new Error('overloaded') }],
    )
    const text = await (await send('go', 'u1')).text()
    const codes = text
      .trimEnd()
      .split('\n')
      .map((line) => line.slice(0, 1))
    expect(codes.lastIndexOf('8')).toBeLessThan(codes.indexOf('3'))
    const again = await readAll(new Response(text))
    expect(lastOfEach(again)).toEqual((await page())?.annotations)
  })
})
