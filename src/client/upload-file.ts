import { type ApiOptions, createApi, readJson } from './api.ts'

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
  /** Cancels the upload, which then rejects with the signal's reason; nothing of the file is stored. @default none */
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
  const { signal } = options
  // Only `XMLHttpRequest` reports the progress of an upload.
  const reportsProgress = api.fetch === undefined && typeof XMLHttpRequest === 'function'
  const server = createApi(
    reportsProgress ? { ...api, fetch: fetchWithProgress(file, options) } : api,
  )
  const init = { method: 'POST', headers, body: file, ...(signal === undefined ? {} : { signal }) }
  const answer = await readJson<Answer>(await server.open('/api/files', init), signal)
  const { mediaType, url, filename, bytes } = answer
  const part = { type: 'file', mediaType, url, bytes } as const
  return filename === undefined ? part : { ...part, filename }
}

/**
 * An `XMLHttpRequest` as a `fetch` of this one body, so that a refusal, a broken connection and a cancellation are what
 * they are for every other request.
 */
function fetchWithProgress(body: Blob, { onProgress }: UploadOptions): typeof fetch {
  return (address, { method = 'GET', headers, signal } = {}) =>
    new Promise((resolve, reject) => {
      const request = new XMLHttpRequest()
      request.open(method, address instanceof Request ? address.url : address.toString())
      for (const [name, value] of new Headers(headers)) request.setRequestHeader(name, value)
      request.upload.addEventListener('progress', ({ loaded, total }) => {
        if (total > 0) onProgress?.(loaded / total)
      })
      // In a promise: a status that no `Response` can have is a failure too.
      request.addEventListener('load', () => resolve(Promise.resolve(request).then(toResponse)))
      const lose = () => reject(new TypeError('The request failed.'))
      request.addEventListener('error', lose)
      request.addEventListener('abort', lose)
      signal?.addEventListener('abort', () => {
        reject(signal.reason as Error)
        request.abort()
      })
      request.send(body)
    })
}

function toResponse(request: XMLHttpRequest): Response {
  const { status, responseText } = request
  const headers = request
    .getAllResponseHeaders()
    .split('\r\n')
    .flatMap((line): [string, string][] => {
      const colon = line.indexOf(':')
      return colon < 1 ? [] : [[line.slice(0, colon), line.slice(colon + 1).trim()]]
    })
  // A `Response` with such a status may have no body, not even an empty one.
  const hasBody = ![204, 205, 304].includes(status)
  return new Response(hasBody ? responseText : null, { status, headers })
}
