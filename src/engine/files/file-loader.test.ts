import { DownloadError, type ModelMessage } from 'ai'
import { expect, it } from 'vitest'
import { systemClock } from '../clock.ts'
import { createFileLoader, type FetchFile } from './file-loader.ts'

const wanted = [
  { url: new URL('https://a.example/good.png'), isUrlSupportedByModel: false },
  { url: new URL('https://a.example/bad.png'), isUrlSupportedByModel: false },
  { url: new URL('https://a.example/model.png'), isUrlSupportedByModel: true },
]
const messages = wanted.map(({ url }) => ({
  role: 'user' as const,
  content: [{ type: 'file' as const, data: url.href, mediaType: 'image/png' }],
}))

it.each<readonly [string, () => Promise<never>]>([
  ['not there', () => Promise.reject(new DownloadError({ url: 'x', statusCode: 404 }))],
  ['too large', () => Promise.reject(new DownloadError({ url: 'x', message: 'exceeded 10' }))],
  ['broken off', () => Promise.reject(new TypeError('terminated'))],
])(
  '[ST3b] a file that is %s is in words, and those that are there are fetched once',
  async (_, fail) => {
    const fetched: string[] = []
    const fetchFile: FetchFile = ({ url }) => {
      fetched.push(url.pathname)
      return url.pathname === '/bad.png'
        ? fail()
        : Promise.resolve({ data: new Uint8Array([1]), mediaType: 'image/png' })
    }
    const files = createFileLoader(systemClock, new AbortController().signal, { fetchFile })
    await expect(files.download(wanted)).rejects.toThrow('could not be loaded')
    expect(files.missing).toBe(1)
    expect(
      files
        .withMissingAsText(messages)
        .map(({ content }) => (content as { type: string }[])[0]?.type),
    ).toEqual(['file', 'text', 'file'])
    const rest = wanted.filter(({ url }) => url.pathname !== '/bad.png')
    expect(await files.download(rest)).toEqual([
      { data: new Uint8Array([1]), mediaType: 'image/png' },
      null,
    ])
    expect(fetched).toEqual(['/bad.png', '/good.png'])
  },
)

it('[ST3b] a file that never arrives is waited for only until the timeout', async () => {
  let ring = () => {}
  const clock = {
    ...systemClock,
    after: (_ms: number, call: () => void) => {
      ring = call
      return () => {}
    },
  }
  let isTold = false
  const fetchFile: FetchFile = ({ abortSignal }) => {
    abortSignal.addEventListener('abort', () => (isTold = true))
    return new Promise(() => {})
  }
  const files = createFileLoader(clock, new AbortController().signal, { fetchFile })
  const loading = files.download(wanted.slice(0, 1))
  ring()
  await expect(loading).rejects.toThrow('could not be loaded')
  expect([files.missing, isTold]).toEqual([1, true])
})

/** Files of 40 bytes, of which a prompt has room for two and a half. */
function createNarrowLoader() {
  const fetched: string[] = []
  let open = 0
  let mostAtOnce = 0
  const fetchFile: FetchFile = async ({ url, maxBytes }) => {
    fetched.push(`${url.pathname} ${maxBytes}`)
    mostAtOnce = Math.max(mostAtOnce, ++open)
    await Promise.resolve()
    open--
    return { data: new Uint8Array(40), mediaType: 'image/png' }
  }
  const bounded = Object.assign(fetchFile, { promptBytes: 100 })
  const files = createFileLoader(systemClock, new AbortController().signal, { fetchFile: bounded })
  /** As the model is called: again with words in place of what could not be loaded. */
  const send = async (prompt: readonly ModelMessage[]) => {
    for (;;) {
      const { missing } = files
      const messages = files.withMissingAsText(prompt)
      const requested = messages.flatMap(({ content }) =>
        (content as readonly Part[]).flatMap(({ type, data = '' }) =>
          type === 'file' && data.startsWith('https:')
            ? [{ url: new URL(data), isUrlSupportedByModel: false }]
            : [],
        ),
      )
      try {
        await files.download(requested)
        return messages.map(({ content }) => (content as readonly Part[])[0]?.type).join(' ')
      } catch (error) {
        if (files.missing === missing) throw error
      }
    }
  }
  return { send, fetched, mostAtOnce: () => mostAtOnce }
}
interface Part {
  readonly type: string
  readonly data?: string
}
const naming = (name: string): ModelMessage => ({
  role: 'user',
  content: [{ type: 'file', data: `https://a.example/${name}`, mediaType: 'image/png' }],
})

it('[OP7 ST3b] the newest files are loaded as far as the prompt has room, and the others are words', async () => {
  const { send, fetched, mostAtOnce } = createNarrowLoader()
  const prompt = ['1', '2', '3', '4', '5', '6', '7', '8', '9'].map(naming)
  expect(await send(prompt)).toBe('text text text text text text text file file')
  // Four at a time, each with what the newer ones have left.
  expect(fetched).toEqual([
    ...['/9 100', '/8 100', '/7 100', '/6 100'],
    ...['/5 20', '/4 20', '/3 20', '/2 20', '/1 20'],
  ])
  expect(mostAtOnce()).toBe(4)
  fetched.length = 0
  expect(await send([...prompt, naming('new')])).toBe(
    'text text text text text text text text file file',
  )
  expect(fetched).toEqual(['/new 100'])
})

it('[OP7] each use of a file counts, those of other files before its second', async () => {
  const { send, fetched } = createNarrowLoader()
  const prompt = ['1', '2', '2', '2'].map(naming)
  expect(await send(prompt)).toBe('file text text file')
  expect(await send([naming('2'), naming('2')])).toBe('text file')
  expect(fetched).toEqual(['/2 100', '/1 100'])
})

it('[OP7] a file that the last prompt did not have is no longer held', async () => {
  const { send, fetched } = createNarrowLoader()
  for (const name of ['1', '1', '2', '1']) expect(await send([naming(name)])).toBe('file')
  expect(fetched).toEqual(['/1 100', '/2 100', '/1 100'])
})

it('[OP7] the files of answers, which are in the messages already, count too', async () => {
  const { send } = createNarrowLoader()
  const data = `data:image/png;base64,${Buffer.alloc(61).toString('base64')}`
  const answer: ModelMessage = {
    role: 'assistant',
    content: [{ type: 'file', data, mediaType: 'image/png' }],
  }
  expect(await send([answer, naming('1')])).toBe('file text')
  const smaller = {
    ...answer,
    content: [{ type: 'file', data: data.replace('AAAA', ''), mediaType: 'image/png' }],
  } as ModelMessage
  expect(await send([smaller, naming('2')])).toBe('file file')
})

const refusal = (message: string) => Object.assign(new Error(message), { statusCode: 400 })
const typesOf = (prompt: readonly ModelMessage[]) =>
  prompt.map(({ content }) => (content as readonly Part[])[0]?.type).join(' ')

it.each<[what: string, data: unknown]>([
  ['its address', new URL('https://a.example/1')],
  ['its bytes', new Uint8Array([1])],
  ['its bytes as text', { type: 'data', data: 'AQ==' }],
  ['its id at the provider', { openai: 'file-1' }],
])('[ST3b] a refused file given by %s is words in every later call', async (_, data) => {
  const files = createFileLoader(systemClock, new AbortController().signal)
  const model = 'openai/gpt-5'
  const prompt = [{ role: 'user', content: [{ type: 'file', data, mediaType: 'image/png' }] }]
  const call = (await files.refer(prompt as never, model)) as ModelMessage[]
  expect(typesOf(files.withMissingAsText(call))).toBe('file')
  expect(files.isToBlame(new Error('overloaded'), call)).toBe(false)
  expect(files.isToBlame(refusal('Could not process image'), call)).toBe(true)
  const second = await files.refer([...call, naming('2')], model)
  const sent = files.withMissingAsText(second)
  expect(typesOf(sent)).toBe('text file')
  // Of this call no file became words, so nothing is known of a file that was not to blame.
  expect(files.isToBlame(refusal('no'), sent.slice(0, 1))).toBe(false)
  expect(typesOf(files.withMissingAsText(second))).toBe('text file')
})

it('[ST3b] files that were not to blame are sent again, and the first refusal is thrown', async () => {
  const files = createFileLoader(systemClock, new AbortController().signal)
  const prompt = await files.refer([naming('1'), naming('2')], 'openai/gpt-5')
  expect(files.isToBlame(refusal('Cannot load https://a.example/1.'), prompt)).toBe(true)
  const others = files.withMissingAsText(prompt)
  expect(typesOf(others)).toBe('text file')
  expect(files.isToBlame(refusal('first'), others)).toBe(true)
  const none = files.withMissingAsText(prompt)
  expect(typesOf(none)).toBe('text text')
  expect(() => files.isToBlame(refusal('second'), none)).toThrow('first')
  expect(typesOf(files.withMissingAsText(prompt))).toBe('text file')
})
