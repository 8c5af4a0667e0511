import { ApiError } from '../protocol/api-error.ts'
import { type ApiOptions, createApi, rootOf } from './api.ts'

/** A file on the server, as a part of a message. */
export interface UploadedFile {
  readonly type: 'file'
  readonly mediaType: string
  readonly url: string
  readonly filename?: string
  readonly bytes: number
}

/** Progress and cancellation of an upload. */
export interface UploadOptions {
  /** Called with the share that has been sent, from 0 to 1. @default none */
  readonly onProgress?: (share: number) => void
  /** Cancels the upload; nothing of the file is stored. @default none */
  readonly signal?: AbortSignal
}

type Answer = Omit<UploadedFile, 'type'>

/**
 * Uploads one file, and returns it as a part of a message. Rejects with an `ApiError` whose code tells why it was
 * refused, such as `file-too-large`.
 *
 * @example
 * const part = await uploadFile({ baseUrl }, file)
 * sendMessage({ text, files: [part] })
 */
export async function uploadFile(
  api: ApiOptions,
  file: Blob & { readonly name?: string },
  options: UploadOptions = {},
): Promise<UploadedFile> {
  const headers = {
    'content-type': file.type === '' ? 'application/octet-stream' : file.type,
    ...(file.name === undefined ? {} : { 'x-filename': encodeURIComponent(file.name) }),
  }
  // Only `XMLHttpRequest` reports the progress of an upload.
  const reportsProgress = api.fetch === undefined && typeof XMLHttpRequest === 'function'
  const { mediaType, url, filename, bytes } = reportsProgress
    ? await sendWithProgress(api, file, headers, options)
    : await sendPlainly(api, file, headers, options)
  const part = { type: 'file', mediaType, url, bytes } as const
  return filename === undefined ? part : { ...part, filename }
}

async function sendPlainly(
  api: ApiOptions,
  body: Blob,
  headers: Record<string, string>,
  { signal }: UploadOptions,
): Promise<Answer> {
  const init = { method: 'POST', headers, body, ...(signal === undefined ? {} : { signal }) }
  const response = await createApi(api).open('/api/files', init)
  return (await response.json()) as Answer
}

function sendWithProgress(
  api: ApiOptions,
  body: Blob,
  headers: Readonly<Record<string, string>>,
  { onProgress, signal }: UploadOptions,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('POST', `${rootOf(api)}/api/files`)
    for (const [name, value] of Object.entries({ ...api.headers?.(), ...headers })) {
      request.setRequestHeader(name, value)
    }
    request.responseType = 'json'
    request.upload.addEventListener('progress', ({ loaded, total }) => {
      if (total > 0) onProgress?.(loaded / total)
    })
    request.addEventListener('load', () => {
      const { status } = request
      const answer = request.response as (Answer & { readonly error?: Refusal }) | null
      if (status === 201 && answer !== null) return resolve(answer)
      const { code = 'http-error', message = `The server responded with ${status}.` } =
        answer?.error ?? {}
      reject(new ApiError(status, code, message))
    })
    const lost = () => reject(new ApiError(0, 'unreachable', 'The server cannot be reached.'))
    request.addEventListener('error', lost)
    request.addEventListener('abort', lost)
    signal?.addEventListener('abort', () => request.abort())
    request.send(body)
  })
}

interface Refusal {
  readonly code?: string
  readonly message?: string
}
