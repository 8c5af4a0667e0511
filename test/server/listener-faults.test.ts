import { type Handler, listen, type ListenOptions } from 'holdfast/server'
import { describe, expect, it, onTestFinished, vi } from 'vitest'

async function serve(handler: Handler, options: Partial<ListenOptions> = {}) {
  const server = await listen(handler, { port: 0, host: '127.0.0.1', ...options })
  onTestFinished(() => server.close())
  return server.url
}

const bytes = (text: string) => new TextEncoder().encode(text)

async function usedUp(): Promise<Response> {
  const response = new Response('once')
  await response.text()
  return response
}

const fault = new Error('secret cause')

/** What a handler of somebody's own may do, typed as it is written: wrongly. */
const faults: readonly (readonly [string, () => unknown])[] = [
  [
    'throws',
    () => {
      throw fault
    },
  ],
  ['rejects', () => Promise.reject(fault)],
  [
    'throws what is no error',
    () => {
      throw 'a word' // oxlint-disable-line only-throw-error
    },
  ],
  // oxlint-disable-next-line prefer-promise-reject-errors
  ['rejects with nothing', () => Promise.reject(undefined)],
  ['returns nothing', () => undefined],
  ['returns what is no response', () => ({ status: 200 })],
  ['returns a response that was read already', usedUp],
  ['returns Response.error()', () => Response.error()],
]

describe('a handler that', () => {
  it.each(faults)('[HT1] %s is a 500 in JSON, and is logged', async (_, run) => {
    const logged: unknown[] = []
    const url = await serve((request) => (request.url.endsWith('/ok') ? ok() : (run() as never)), {
      onError: (error) => logged.push(error),
    })
    const response = await fetch(url, { method: 'POST', body: 'question' })
    expect(response.status).toBe(500)
    expect(response.headers.get('content-type')).toBe('application/json')
    const text = await response.text()
    expect(JSON.parse(text)).toMatchObject({ error: { code: 'internal' } })
    expect(text).not.toContain('secret')
    expect(logged).toHaveLength(1)
    expect(await (await fetch(`${url}/ok`)).text()).toBe('fine')
  })

  const ok = () => Promise.resolve(new Response('fine'))

  it('[HT1] breaks in the middle of its answer is logged, and its client sees the break', async () => {
    const logged: unknown[] = []
    const read = Promise.withResolvers<void>()
    const url = await serve(
      async () =>
        new Response(
          new ReadableStream({
            start: (controller) => controller.enqueue(bytes('half')),
            async pull(controller) {
              await read.promise
              controller.error(fault)
            },
          }),
        ),
      { onError: (error) => logged.push(error) },
    )
    const reader = (await fetch(url)).body?.getReader()
    expect((await reader?.read())?.value).toEqual(bytes('half'))
    read.resolve()
    await expect(reader?.read()).rejects.toThrow('terminated')
    expect(logged).toEqual([fault])
  })

  it('[HT1] is written to the standard error where nobody else is to be notified', async () => {
    const written = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    onTestFinished(() => written.mockRestore())
    const broken = new Error('the log is broken')
    const quiet = await serve(() => Promise.reject(fault))
    const worse = await serve(() => Promise.reject(fault), {
      onError() {
        throw broken
      },
    })
    expect((await fetch(quiet)).status).toBe(500)
    expect((await fetch(worse)).status).toBe(500)
    expect(written.mock.calls).toEqual([
      ['holdfast:', fault],
      ['holdfast:', broken],
    ])
  })

  it('[RS1] is left by its client is no fault', async () => {
    const logged: unknown[] = []
    const left = Promise.withResolvers<void>()
    const url = await serve(
      async () =>
        new Response(
          new ReadableStream({
            start: (controller) => controller.enqueue(bytes('begun')),
            cancel: () => left.resolve(),
          }),
        ),
      { onError: (error) => logged.push(error) },
    )
    const gone = new AbortController()
    const response = await fetch(url, { signal: gone.signal })
    await response.body?.getReader().read()
    gone.abort()
    await left.promise
    expect(logged).toEqual([])
  })
})
