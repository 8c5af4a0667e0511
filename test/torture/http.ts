import { readSse } from '../../src/client/read-sse.ts'
import type { SseEvent } from '../../src/protocol/sse.ts'

/** Keep-alives come every half second: a server that says nothing for this long is frozen, or gone. */
const silenceMs = 6_000
const answerMs = 15_000

export interface Asked {
  readonly owner: string
  readonly method?: 'GET' | 'POST'
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** An answer that has begun, or undefined where none came: the server died, is frozen, or refuses connections. */
export async function sendRequest(
  url: string,
  { owner, body, headers, ...rest }: Asked,
  signal?: AbortSignal,
): Promise<Response | undefined> {
  const late = AbortSignal.timeout(answerMs)
  try {
    return await fetch(url, {
      method: body === undefined ? 'GET' : 'POST',
      ...rest,
      ...(body === undefined ? {} : { body }),
      headers: { authorization: `Bearer ${owner}`, 'content-type': 'application/json', ...headers },
      signal: signal ?? late,
    })
  } catch {
    // Nobody is there, which is what this is about; the caller asks somebody else.
    return undefined
  }
}

/** The whole answer as JSON, with its status; undefined where none came, or not all of it. */
export async function requestJson(
  url: string,
  asked: Asked,
): Promise<{ readonly status: number; readonly json: unknown } | undefined> {
  const response = await sendRequest(url, asked)
  if (response === undefined) return undefined
  try {
    return { status: response.status, json: await response.json() }
  } catch {
    // It broke off in the middle.
    return undefined
  }
}

/**
 * A stream of events to its end. Resolves with the status, 0 where no answer came; `leave` is called when nothing was
 * heard for long, too.
 */
export async function readStream(
  url: string,
  asked: Asked,
  leave: AbortController,
  onEvent: (event: SseEvent) => void,
  onRefusal: (code: string) => void = () => undefined,
): Promise<number> {
  const hush = () => setTimeout(() => leave.abort(), silenceMs)
  let silence = hush()
  try {
    const response = await sendRequest(url, asked, leave.signal)
    if (response === undefined) return 0
    if (response.status !== 200 || response.body === null) {
      onRefusal(/"code":"([\w-]+)"/.exec(await response.text())?.[1] ?? '')
      return response.status
    }
    const onHeard = () => {
      clearTimeout(silence)
      silence = hush()
    }
    for await (const event of readSse(response.body, onHeard)) onEvent(event)
    return response.status
  } catch {
    // Broken off by a death, or by us.
    return 200
  } finally {
    clearTimeout(silence)
  }
}
