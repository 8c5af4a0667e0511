import { isId } from '../../core/ids.ts'
import { type FileRecord, toFileUrl } from '../../core/file.ts'
import { toDisposition } from '../../files/file-name.ts'
import { isShownInline } from '../../files/sniff-type.ts'
import { ApiError } from '../../protocol/api-error.ts'
import type { ServerContext } from '../context.ts'
import { badRequest, notFound } from '../http-error.ts'
import type { Route, RouteRequest } from '../router.ts'

/** Files that messages name (FL1). */
export function fileRoutes({ holdfast, inFlight }: ServerContext): readonly Route[] {
  return [
    {
      method: 'POST',
      path: '/api/files',
      async handle({ request, ownerId, basePath }) {
        const { headers } = request
        const mediaType = headers.get('content-type') ?? 'application/octet-stream'
        const encoding = headers.get('content-encoding') ?? 'identity'
        if (encoding.toLowerCase() !== 'identity') {
          throw new ApiError(415, 'unsupported-type', 'Send the file as it is, not encoded.')
        }
        if (/^multipart\//i.test(mediaType)) {
          throw new ApiError(415, 'unsupported-type', 'Send one file as the body, not a form.')
        }
        const length = headers.get('content-length')
        const file = await holdfast.files.add({
          ownerId,
          content: readBody(request),
          mediaType,
          ...filenameOf(headers.get('x-filename')),
          ...(length === null ? {} : { bytes: Number(length) }),
        })
        return Response.json(toAnswer(file, basePath), { status: 201 })
      },
    },
    {
      method: 'GET',
      path: '/api/files/:id',
      async handle(request) {
        const file = await findFile(request)
        const range = parseRange(request.request.headers.get('range'), file.bytes)
        const etag = `"${file.sha256}"`
        const headers = headersOf(file, etag)
        if (request.request.headers.get('if-none-match') === etag) {
          return new Response(null, { status: 304, headers })
        }
        if (range === 'unsatisfiable') {
          throw new ApiError(416, 'bad-range', `The file has ${file.bytes} bytes.`)
        }
        inFlight.admit(request.ownerId)
        const content = await holdfast.files.read(file.id, range ?? undefined)
        if (content === null) throw notFound('file')
        const body = toBody(content)
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
      },
    },
  ]

  /** Another owner's is as if it were not there (HT2). */
  async function findFile({ params, ownerId }: RouteRequest): Promise<FileRecord> {
    const { id } = params
    const file = isId(id) ? await holdfast.files.get(id, { ownerId }) : null
    if (file === null) throw notFound('file')
    return file
  }
}

async function* readBody({ body }: Request): AsyncGenerator<Uint8Array> {
  if (body === null) return
  try {
    yield* body
  } catch {
    throw new ApiError(400, 'file-cut-off', 'The file did not come to its end.')
  }
}

function filenameOf(given: string | null): { readonly filename?: string } {
  if (given === null) return {}
  try {
    return { filename: decodeURIComponent(given) }
  } catch {
    throw badRequest('"x-filename" is percent-encoded UTF-8.')
  }
}

const toAnswer = (
  { ownerId: _, sha256: __, createdAt: ___, ...file }: FileRecord,
  base: string,
) => ({
  ...file,
  url: toFileUrl(file.id, base),
})

/** Shown in a page only where it is a picture that runs nothing; anything else is saved, and opened by whoever wants to. */
const headersOf = ({ mediaType, filename }: FileRecord, etag: string) => ({
  'content-type':
    isShownInline(mediaType) || !isActive(mediaType) ? mediaType : 'application/octet-stream',
  'content-disposition': toDisposition(
    isShownInline(mediaType) ? 'inline' : 'attachment',
    filename,
  ),
  'accept-ranges': 'bytes',
  'cache-control': 'private, max-age=31536000, immutable',
  etag,
})

/** What a browser would run or draw with what is in it, if it were opened as a page. */
const isActive = (mediaType: string): boolean => /html|svg|xml|javascript|wasm/.test(mediaType)

/** Read when whoever is served takes it, so that no file is in memory as a whole (OP7). */
function toBody(content: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const source = content[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next: IteratorResult<Uint8Array, unknown> = await source.next()
        if (next.done === true) controller.close()
        else controller.enqueue(next.value)
      },
      async cancel() {
        await source.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}

/** One range of bytes. Null: the whole file, as for what is no range. */
function parseRange(
  header: string | null,
  bytes: number,
): { readonly start: number; readonly end: number } | 'unsatisfiable' | null {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? []
  if (first === '' && last === '') return null
  const start = first === '' ? Math.max(0, bytes - Number(last)) : Number(first)
  const end = first === '' || last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1)
  return start > end || start >= bytes ? 'unsatisfiable' : { start, end }
}
