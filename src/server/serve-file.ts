import type { FileRecord } from '../core/file.ts'
import { toDisposition } from '../files/file-name.ts'
import type { ByteRange } from '../files/file-store.ts'
import { isShownInline } from '../files/sniff-type.ts'
import { notFound, RangeNotSatisfiable } from './http-error.ts'

/** A file and the source of its bytes. */
export interface ServedFile {
  readonly file: Omit<FileRecord, 'ownerId'>
  readonly cacheControl: string
  /** Refuses a reader that uses too much; the returned function releases the slot. */
  readonly admit: () => () => void
  readonly read: (range?: ByteRange) => Promise<AsyncIterable<Uint8Array> | null>
}

/** The file, or a range of it, never as active content (FL1). */
export async function serveFile(request: Request, served: ServedFile): Promise<Response> {
  const { file } = served
  const range = parseRange(request.headers.get('range'), file.bytes)
  const etag = `"${file.sha256}"`
  const headers = headersOf(file, etag, served.cacheControl)
  if (isUnchanged(request.headers.get('if-none-match'), etag)) {
    return new Response(null, { status: 304, headers })
  }
  if (range === 'unsatisfiable') throw new RangeNotSatisfiable(file.bytes)
  const leave = served.admit()
  let content: AsyncIterable<Uint8Array> | null
  try {
    content = await served.read(range ?? undefined)
    if (content === null) throw notFound('file')
  } catch (error) {
    leave()
    throw error
  }
  const body = toBody(content, leave)
  if (range === null) {
    return new Response(body, { headers: { ...headers, 'content-length': `${file.bytes}` } })
  }
  const { start, end } = range
  return new Response(body, {
    status: 206,
    headers: {
      ...headers,
      'content-length': `${end - start + 1}`,
      'content-range': `bytes ${start}-${end}/${file.bytes}`,
    },
  })
}

/** Shown inline only if it is an image that cannot run anything; any other file is a download. */
const headersOf = (
  { mediaType, filename }: ServedFile['file'],
  etag: string,
  cacheControl: string,
) => ({
  'content-type':
    isShownInline(mediaType) || !isActive(mediaType) ? mediaType : 'application/octet-stream',
  'content-disposition': toDisposition(
    isShownInline(mediaType) ? 'inline' : 'attachment',
    filename,
  ),
  'accept-ranges': 'bytes',
  'cache-control': cacheControl,
  etag,
})

/** Types that a browser would execute or render together with their content, if opened as a page. */
const isActive = (mediaType: string): boolean => /html|svg|xml|javascript|wasm/.test(mediaType)

/**
 * Read as the client consumes it, so that no file is in memory as a whole (OP7). `onClose`: called once, however it
 * ends.
 */
function toBody(
  content: AsyncIterable<Uint8Array>,
  onClose: () => void,
): ReadableStream<Uint8Array> {
  const source = content[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const next: IteratorResult<Uint8Array, unknown> = await source.next()
          if (next.done !== true) {
            controller.enqueue(next.value)
            return
          }
          onClose()
          controller.close()
        } catch (error) {
          onClose()
          throw error
        }
      },
      async cancel() {
        onClose()
        // How a source closes that nobody reads is no failure of the response.
        await source.return?.().catch(() => undefined)
      },
    },
    { highWaterMark: 0 },
  )
}

/** RFC 9110, 13.1.2: `*`, or a list of entity tags that are compared weakly. */
function isUnchanged(header: string | null, etag: string): boolean {
  if (header === null) return false
  return header.trim() === '*' || [...header.matchAll(/"[^"]*"/g)].some(([tag]) => tag === etag)
}

/** One range of bytes. Null: the whole file, also for an invalid range. */
function parseRange(header: string | null, bytes: number): ByteRange | 'unsatisfiable' | null {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? []
  if (first === '' && last === '') return null
  const start = first === '' ? Math.max(0, bytes - Number(last)) : Number(first)
  const end = first === '' || last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1)
  return start > end || start >= bytes ? 'unsatisfiable' : { start, end }
}
