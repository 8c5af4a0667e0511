import { isId } from '../../core/ids.ts'
import { type FileRecord, toFileUrl } from '../../core/file.ts'
import { ApiError } from '../../protocol/api-error.ts'
import type { ServerContext } from '../context.ts'
import { badRequest, notFound } from '../http-error.ts'
import type { Route, RouteRequest } from '../router.ts'
import { serveFile } from '../serve-file.ts'

/** Files that messages refer to (FL1). */
export function fileRoutes({ holdfast, inFlight, transfers }: ServerContext): readonly Route[] {
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
        const named = filenameOf(headers.get('x-filename'))
        const leave = transfers.acquire(ownerId)
        const file = await holdfast.files
          .add({
            ownerId,
            content: readBody(request),
            mediaType,
            ...named,
            ...(length === null ? {} : { bytes: Number(length) }),
          })
          .finally(leave)
        return Response.json(toAnswer(file, basePath), { status: 201 })
      },
    },
    {
      method: 'GET',
      path: '/api/files/:id',
      async handle(request) {
        const file = await findFile(request)
        return serveFile(request.request, {
          file,
          cacheControl: 'private, max-age=31536000, immutable',
          admit: () => {
            inFlight.admit(request.ownerId)
            return transfers.acquire(request.ownerId)
          },
          read: (range) => holdfast.files.read(file.id, range, { user: file.ownerId }),
        })
      },
    },
  ]

  /** Another owner's file is treated as not existing (HT2). */
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
    throw new ApiError(400, 'file-cut-off', 'The file is incomplete.')
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
