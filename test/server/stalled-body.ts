import type { Handler } from 'holdfast/server'

export interface StalledBodyOptions {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** What arrives of it. */
  readonly begin: string
}

/** A request whose body stops after its beginning. */
export interface StalledBody {
  /** `stalled` once its beginning has been read and more is waited for; or the response, if that comes first. */
  readonly outcome: Promise<'stalled' | Response>
  readonly response: Promise<Response>
  /** How many parts of the body were asked for. */
  readonly pulls: () => number
  /** The rest of the body arrives. */
  end(rest: string): Promise<Response>
  /** The client leaves. */
  abort(this: void): Promise<Response>
}

/** A request whose body arrives as the server reads it. */
export function toStreamedRequest(
  path: string,
  method: string,
  headers: Readonly<Record<string, string>>,
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal | null = null,
): Request {
  const type = { 'content-type': 'application/json' }
  // A variable, because the type of its argument does not know `duplex`, which a stream needs.
  const init = { method, headers: { ...type, ...headers }, body, signal, duplex: 'half' }
  return new Request(`http://localhost${path}`, init)
}

export function stallBody(
  handler: Handler,
  path: string,
  { method = 'POST', headers = {}, begin }: StalledBodyOptions,
): StalledBody {
  const encoder = new TextEncoder()
  const stalled = Promise.withResolvers<'stalled'>()
  let pulls = 0
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  const body = new ReadableStream<Uint8Array>(
    {
      pull(given) {
        controller = given
        pulls++
        if (pulls === 1) given.enqueue(encoder.encode(begin))
        else stalled.resolve('stalled')
      },
    },
    { highWaterMark: 0 },
  )
  const response = handler(toStreamedRequest(path, method, headers, body))
  return {
    outcome: Promise.race([stalled.promise, response]),
    response,
    pulls: () => pulls,
    end(rest) {
      controller?.enqueue(encoder.encode(rest))
      controller?.close()
      return response
    },
    abort() {
      controller?.error(new Error('The client has gone.'))
      return response
    },
  }
}
