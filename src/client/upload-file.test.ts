import { afterEach, describe, expect, it, vi } from 'vitest'
import { settled } from '../../test/support/scripted-clock.ts'
import { type Answer, createScriptedServer, refusal } from '../../test/support/scripted-server.ts'
import { ApiError } from '../protocol/api-error.ts'
import { uploadFile, type UploadOptions } from './upload-file.ts'

afterEach(() => vi.unstubAllGlobals())

const noProgress = { loaded: 0, total: 0 }

/** What `uploadFile` uses of an `XMLHttpRequest`, on a network that is given as a `fetch`. */
function createRequestClass(send: typeof fetch) {
  return class extends EventTarget {
    readonly upload = new EventTarget()
    status = 0
    responseText = ''
    #response = new Response()
    readonly #stop = new AbortController()
    readonly #headers: Record<string, string> = {}
    #method = ''
    #address = ''

    open(method: string, address: string) {
      this.#method = method
      this.#address = address
    }

    setRequestHeader(name: string, value: string) {
      this.#headers[name] = value
    }

    getAllResponseHeaders(): string {
      return [...this.#response.headers].map(([name, value]) => `${name}: ${value}\r\n`).join('')
    }

    send(body: Blob) {
      const init = { method: this.#method, headers: this.#headers, signal: this.#stop.signal }
      void send(this.#address, { ...init, body }).then(
        async (response) => {
          this.#progress({ loaded: body.size / 2, total: body.size })
          this.#progress({ loaded: body.size, total: body.size })
          try {
            this.responseText = await response.text()
            this.status = response.status
            this.#response = response
            this.dispatchEvent(new Event('load'))
          } catch {
            this.dispatchEvent(new Event('error'))
          }
        },
        () => this.#stop.signal.aborted || this.dispatchEvent(new Event('error')),
      )
      this.#progress(noProgress)
    }

    abort() {
      this.#stop.abort()
      this.dispatchEvent(new Event('abort'))
    }

    #progress(progress: typeof noProgress) {
      this.upload.dispatchEvent(Object.assign(new Event('progress'), progress))
    }
  }
}

const ways = ['fetch', 'XMLHttpRequest'] as const
type Way = (typeof ways)[number]

function open(way: Way, answer: Answer) {
  const server = createScriptedServer()
  server.on(/files/, answer)
  const { fetch } = server.options
  vi.stubGlobal('XMLHttpRequest', createRequestClass(fetch))
  const api = { baseUrl: '/proxy/', basePath: '/chat', headers: () => ({ authorization: 'ana' }) }
  const upload = (file: Blob, options?: UploadOptions) =>
    uploadFile(way === 'fetch' ? { ...api, fetch } : api, file, options).then(
      (part) => ({ part }),
      (error: unknown) => ({ error }),
    )
  return { server, upload }
}

const photo = new File(['four'], 'Übersicht 1.png', { type: 'image/png' })
const stored = { url: '/api/files/f1', mediaType: 'image/png', bytes: 4, filename: 'U.png' }
const anonymous = { url: '/api/files/f1', mediaType: 'text/plain', bytes: 4 }
const apiError = (...args: ConstructorParameters<typeof ApiError>) => ({
  error: new ApiError(...args),
})
const reason = new Error('Another photo.')
const html = '<html>Sign in</html>'
const brokenOff = () =>
  new Response(new ReadableStream({ pull: (controller) => controller.error(new TypeError('x')) }))

describe.each(ways)('an upload by %s', (way) => {
  it.each<readonly [string, Answer, object]>([
    [
      'gives the part, when it is stored',
      () => Response.json(stored, { status: 201 }),
      { part: { type: 'file', ...stored } },
    ],
    [
      'gives the part without a name, when it has none',
      () => Response.json(anonymous, { status: 201 }),
      { part: { type: 'file', ...anonymous } },
    ],
    [
      'says who has to sign in',
      () => refusal(401, 'not-authenticated'),
      apiError(401, 'not-authenticated', 'not-authenticated.'),
    ],
    [
      'says what is too large, and how large it may be',
      () => {
        const error = { code: 'file-too-large', message: 'Too large.', maxBytes: 3 }
        return Response.json({ error }, { status: 413 })
      },
      apiError(413, 'file-too-large', 'Too large.', { maxBytes: 3 }),
    ],
    [
      'says how long to wait',
      () => refusal(429, 'too-many', { 'retry-after': '3' }),
      apiError(429, 'too-many', 'too-many.', {}, 3_000),
    ],
    [
      'says the status of a refusal that is a page',
      () => new Response(html, { status: 502 }),
      apiError(502, 'http-error', 'The server responded with 502.'),
    ],
    [
      'says that an answer without a body cannot be read',
      () => new Response(null, { status: 204 }),
      apiError(204, 'bad-answer', 'The response of the server cannot be read.'),
    ],
    [
      'says that an answer which is no JSON cannot be read',
      () => new Response(html, { status: 201 }),
      apiError(201, 'bad-answer', 'The response of the server cannot be read.'),
    ],
    [
      'says that nobody can be reached',
      () => Promise.reject(new TypeError('x')),
      apiError(0, 'unreachable', 'The server cannot be reached.'),
    ],
    [
      'says that the answer broke off',
      brokenOff,
      apiError(
        0,
        'unreachable',
        // Which of the two it was is something that an `XMLHttpRequest` does not tell.
        way === 'fetch' ? 'The answer of the server broke off.' : 'The server cannot be reached.',
      ),
    ],
  ])('[FL1] %s', async (_, answer, outcome) => {
    const { server, upload } = open(way, answer)
    expect(await upload(photo)).toEqual(outcome)
    expect(server.requests.map(({ line, headers }) => [line, headers])).toEqual([
      [
        'POST /proxy/chat/api/files',
        {
          authorization: 'ana',
          'content-type': 'image/png',
          'x-filename': '%C3%9Cbersicht%201.png',
        },
      ],
    ])
  })

  it('[FL1] names no file that has no name, and no type that it has not', async () => {
    const { server, upload } = open(way, () => Response.json(anonymous, { status: 201 }))
    await upload(new Blob(['four']))
    expect(server.requests.map(({ headers }) => headers)).toEqual([
      { authorization: 'ana', 'content-type': 'application/octet-stream' },
    ])
  })

  it('[FL1] that is cancelled ends its request, and rejects with the reason', async () => {
    const { server, upload } = open(way, () => null)
    const stop = new AbortController()
    const outcome = upload(photo, { signal: stop.signal })
    await settled()
    stop.abort(reason)
    expect(await outcome).toEqual({ error: reason })
    expect(server.requests.map(({ signal }) => signal?.aborted)).toEqual([true])
  })

  it('[FL1] that was cancelled before sends nothing', async () => {
    const { server, upload } = open(way, () => Response.json(stored, { status: 201 }))
    const signal = AbortSignal.abort(reason)
    expect(await upload(photo, { signal })).toEqual({ error: reason })
    expect(server.requests).toEqual([])
  })

  it('[FL1] says how much has been sent, where that is known', async () => {
    const { upload } = open(way, () => Response.json(stored, { status: 201 }))
    const shares: number[] = []
    await upload(photo, { onProgress: (share) => shares.push(share) })
    expect(shares).toEqual(way === 'fetch' ? [] : [0.5, 1])
  })

  it('[FL1] rejects with what the headers of the host throw', async () => {
    const { server } = open(way, () => null)
    const headers = () => {
      throw new RangeError('No token.')
    }
    const api = way === 'fetch' ? { headers, fetch: server.options.fetch } : { headers }
    await expect(uploadFile(api, photo)).rejects.toThrow(new RangeError('No token.'))
    expect(server.requests).toEqual([])
  })
})
