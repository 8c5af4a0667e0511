import { createHash, createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** Keys that the server knows. */
export const keys = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret/of+the=test' }
export const region = 'eu-central-1'

export interface S3Server {
  readonly endpoint: string
  /** What is stored, by path. */
  readonly objects: ReadonlyMap<string, { readonly body: Buffer; readonly type: string }>
  /** Uploads in parts that were begun and neither finished nor given up. */
  readonly uploads: ReadonlyMap<string, ReadonlyMap<number, Buffer>>
  readonly requests: readonly string[]
  /** Responses that have begun and are neither complete nor cut off. */
  readonly openResponses: number
  /** The next request of this method is answered so, once. */
  failNext(method: string, status: number): void
  /** How files are sent from now on: whole to whoever asks for a range, or as a first byte that nothing follows. */
  sendFiles(how: 'without ranges' | 'stalled'): void
}

const hmac = (key: Buffer | string, text: string) => createHmac('sha256', key).update(text).digest()
const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex')
const encode = (text: string) =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )

/**
 * A server with S3's own rules: every request is signed (version 4) by a known key, over what it really asks for; a part
 * that is not the last has at least 5 MiB; the parts that are put together are those that came, by their checksums.
 */
export async function startS3Server(bucket: string): Promise<S3Server> {
  const objects = new Map<string, { body: Buffer; type: string }>()
  const uploads = new Map<string, Map<number, Buffer>>()
  const types = new Map<string, string>()
  const requests: string[] = []
  const failures = new Map<string, number>()
  const open = new Set<ServerResponse>()
  let sending: 'with ranges' | 'without ranges' | 'stalled' = 'with ranges'

  const handle = (request: IncomingMessage, body: Buffer, response: ServerResponse): void => {
    const { method = '' } = request
    const url = new URL(request.url ?? '/', `http://${request.headers.host}`)
    requests.push(
      `${method} ${url.pathname.split('/').length > 2 ? url.search.replace(/=.*/, '') : ''}`.trim(),
    )
    const reply = (status: number, text = '', headers: Record<string, string | number> = {}) => {
      response.writeHead(status, headers)
      response.end(text)
    }
    const failure = failures.get(method)
    if (failure !== undefined) {
      failures.delete(method)
      return reply(failure, '<Error><Code>Test</Code></Error>')
    }
    if (!isSigned(request, url, body))
      return reply(403, '<Error><Code>SignatureDoesNotMatch</Code></Error>')
    if (!url.pathname.startsWith(`/${bucket}/`))
      return reply(404, '<Error><Code>NoSuchBucket</Code></Error>')
    const key = url.pathname
    const uploadId = url.searchParams.get('uploadId')
    const etag = (bytes: Buffer) => `"${createHash('md5').update(bytes).digest('hex')}"`
    if (method === 'POST' && url.searchParams.has('uploads')) {
      const id = `upload+${uploads.size}/of=${key.length}`
      uploads.set(id, new Map())
      types.set(id, request.headers['content-type'] ?? '')
      return reply(200, `<R><UploadId>${id}</UploadId></R>`)
    }
    if (uploadId !== null) {
      const parts = uploads.get(uploadId)
      if (parts === undefined) return reply(404, '<Error><Code>NoSuchUpload</Code></Error>')
      if (method === 'DELETE') {
        uploads.delete(uploadId)
        return reply(204)
      }
      if (method === 'PUT') {
        parts.set(Number(url.searchParams.get('partNumber')), body)
        return reply(200, '', { etag: etag(body) })
      }
      const named = [
        ...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>([^<]+)<\/ETag>/g),
      ]
      const isWhole =
        named.length === parts.size &&
        named.every(([, number, sum], index) => {
          const part = parts.get(Number(number))
          const isLast = index === named.length - 1
          return (
            part !== undefined && etag(part) === sum && (isLast || part.byteLength >= 5_242_880)
          )
        })
      if (!isWhole) return reply(200, '<Error><Code>InvalidPart</Code></Error>')
      objects.set(key, {
        body: Buffer.concat(named.map(([, number]) => parts.get(Number(number)) as Buffer)),
        type: types.get(uploadId) ?? '',
      })
      uploads.delete(uploadId)
      return reply(200, '<CompleteMultipartUploadResult/>')
    }
    if (method === 'PUT') {
      objects.set(key, { body, type: request.headers['content-type'] ?? '' })
      return reply(200, '', { etag: etag(body) })
    }
    if (method === 'DELETE') {
      objects.delete(key)
      return reply(204)
    }
    const found = objects.get(key)
    if (found === undefined) return reply(404, '<Error><Code>NoSuchKey</Code></Error>')
    const range = sending === 'without ranges' ? '' : (request.headers.range ?? '')
    const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(range) ?? []
    const part =
      first === undefined
        ? found.body
        : found.body.subarray(Number(first), last === '' ? undefined : Number(last) + 1)
    response.writeHead(first === undefined ? 200 : 206, { 'content-type': found.type })
    if (sending === 'stalled') response.write(part.subarray(0, 1))
    else response.end(part)
  }

  const server = createServer((request, response) => {
    open.add(response)
    response.on('close', () => open.delete(response))
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => handle(request, Buffer.concat(pieces), response))
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    endpoint: `http://127.0.0.1:${port}`,
    objects,
    uploads,
    requests,
    get openResponses() {
      return open.size
    },
    sendFiles(how) {
      sending = how
    },
    failNext: (method, status) => void failures.set(method, status),
  }
}

/** Signature version 4 as its documentation has it, in the header or in the address. */
function isSigned(request: IncomingMessage, url: URL, body: Buffer): boolean {
  const inQuery = url.searchParams.get('X-Amz-Signature')
  const header = request.headers.authorization ?? ''
  const [, credential, signedHeaders, signature] =
    inQuery === null
      ? (/^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]+)$/.exec(
          header,
        ) ?? [])
      : [
          '',
          url.searchParams.get('X-Amz-Credential') ?? '',
          url.searchParams.get('X-Amz-SignedHeaders') ?? '',
          inQuery,
        ]
  if (credential === undefined || signedHeaders === undefined) return false
  const [keyId, day = '', zone = '', service = ''] = credential.split('/')
  if (keyId !== keys.accessKeyId || zone !== region || service !== 's3') return false
  const date =
    inQuery === null
      ? String(request.headers['x-amz-date'])
      : (url.searchParams.get('X-Amz-Date') ?? '')
  const sum =
    inQuery === null ? String(request.headers['x-amz-content-sha256']) : 'UNSIGNED-PAYLOAD'
  if (sum !== 'UNSIGNED-PAYLOAD' && sum !== sha256(body)) return false
  const query = [...url.searchParams]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .toSorted()
    .join('&')
  const names = signedHeaders.split(';')
  const canonical = [
    request.method,
    url.pathname
      .split('/')
      .map((part) => encode(decodeURIComponent(part)))
      .join('/'),
    query,
    ...names.map((name) => `${name}:${String(request.headers[name]).trim()}`),
    '',
    signedHeaders,
    sum,
  ].join('\n')
  const scope = `${day}/${zone}/${service}/aws4_request`
  const text = ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n')
  const key = ['aws4_request', ''].reduce<Buffer>(
    (signing, part) => (part === '' ? signing : hmac(signing, part)),
    hmac(hmac(hmac(`AWS4${keys.secretAccessKey}`, day), zone), service),
  )
  return names.includes('host') && hmac(key, text).toString('hex') === signature
}
