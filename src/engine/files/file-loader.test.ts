import { DownloadError } from 'ai'
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
    const files = createFileLoader(systemClock, new AbortController().signal, fetchFile)
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
    expect(fetched).toEqual(['/good.png', '/bad.png'])
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
  const files = createFileLoader(clock, new AbortController().signal, fetchFile)
  const loading = files.download(wanted.slice(0, 1))
  ring()
  await expect(loading).rejects.toThrow('could not be loaded')
  expect([files.missing, isTold]).toEqual([1, true])
})
