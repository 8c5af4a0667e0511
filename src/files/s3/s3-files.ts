import { AwsClient } from 'aws4fetch'
import { checkOptions, type OptionTable, text, wholeNumber } from '../../core/check-options.ts'
import type { FileId } from '../../core/file.ts'
import { HoldfastError } from '../../core/holdfast-error.ts'
import { cutToRange, type FileStore, writeFrom } from '../file-store.ts'

/** Options of `s3Files`. */
export interface S3FilesOptions {
  /**
   * The URL of the service without the bucket: `https://s3.eu-central-1.amazonaws.com`,
   * `https://<account>.r2.cloudflarestorage.com`.
   */
  readonly endpoint: string
  /** The bucket for the files; it must exist. */
  readonly bucket: string
  /** @default 'us-east-1', which services without regions accept */
  readonly region?: string
  /** The id of a key that may read, write and delete in the bucket. */
  readonly accessKeyId: string
  /** Its secret, which signs every request. */
  readonly secretAccessKey: string
  /** For temporary keys. @default none */
  readonly sessionToken?: string
  /** The prefix of every key, such as `chat/`. @default none */
  readonly prefix?: string
  /**
   * Bytes that are sent at once: a larger file is sent in parts of this size, and no more of it is held in memory. The
   * service accepts no less than 5 MiB.
   * @default 8,388,608
   */
  readonly partBytes?: number
}

export const s3Rules: OptionTable<S3FilesOptions> = {
  endpoint: {
    range: 'an http:// or https:// address',
    fits: (value) => typeof value === 'string' && /^https?:\/\/[^/?#]+\/?$/.test(value),
  },
  bucket: {
    range: 'the name of a bucket',
    fits: (value) => typeof value === 'string' && /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(value),
  },
  region: text('"us-east-1"'),
  accessKeyId: text(),
  secretAccessKey: text(),
  sessionToken: text('none'),
  prefix: {
    range: 'a string of letters, digits and "/", "-", "_", "."',
    fits: (value) => typeof value === 'string' && /^[\w./-]*$/.test(value),
    default: 'none',
  },
  partBytes: wholeNumber(5_242_880, 1_073_741_824, '8,388,608'),
}

/**
 * Files in a bucket of S3 or of a service with the same protocol. Servers on any number of machines may share it.
 * Models that fetch files themselves get a URL that is signed for an hour, and the file does not pass through the server.
 *
 * @example
 * files: { store: s3Files({ endpoint, bucket: 'chat', region, accessKeyId, secretAccessKey }) }
 */
export function s3Files(options: S3FilesOptions): FileStore {
  checkOptions('s3Files', options, s3Rules)
  const { endpoint, bucket, region = 'us-east-1', prefix = '', partBytes = 8_388_608 } = options
  const { accessKeyId, secretAccessKey, sessionToken } = options
  const client = new AwsClient({
    service: 's3',
    region,
    accessKeyId,
    secretAccessKey,
    ...(sessionToken === undefined ? {} : { sessionToken }),
    retries: 3,
  })
  const root = `${endpoint.replace(/\/$/, '')}/${bucket}/${prefix}`
  const addressOf = (id: FileId, query = ''): string => `${root}${id}${query}`

  const request = async (
    method: string,
    address: string,
    init: RequestInit = {},
    isExpected: (status: number) => boolean = (status) => status >= 200 && status < 300,
  ): Promise<Response> => {
    const response = await client.fetch(address, { method, ...init })
    if (isExpected(response.status)) return response
    await response.body?.cancel()
    throw fault(`answered ${response.status} to ${method}`)
  }

  const writeParts = async (
    id: FileId,
    first: Uint8Array<ArrayBuffer>,
    rest: AsyncIterator<Uint8Array<ArrayBuffer>>,
    mediaType: string,
  ): Promise<void> => {
    const begun = await request('POST', addressOf(id, '?uploads='), {
      headers: { 'content-type': mediaType },
    })
    const upload = /<UploadId>([^<]+)<\/UploadId>/.exec(await begun.text())?.[1]
    if (upload === undefined) throw fault('began no upload')
    const uploadId = encodeURIComponent(upload)
    try {
      const parts: string[] = []
      let body: Uint8Array<ArrayBuffer> | undefined = first
      for (let number = 1; body !== undefined; number++) {
        const query = `?partNumber=${number}&uploadId=${uploadId}`
        const sent = await request('PUT', addressOf(id, query), { body })
        await sent.body?.cancel()
        const etag = sent.headers.get('etag') ?? ''
        parts.push(`<Part><PartNumber>${number}</PartNumber><ETag>${etag}</ETag></Part>`)
        const next = await rest.next()
        body = next.done === true ? undefined : next.value
      }
      const list = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`
      const done = await request('POST', addressOf(id, `?uploadId=${uploadId}`), { body: list })
      // The service may answer 200 before it has finished, with the error in the body.
      if (/<Error>/.test(await done.text())) throw fault('did not complete the multipart upload')
    } catch (error) {
      await request('DELETE', addressOf(id, `?uploadId=${uploadId}`)).catch(() => undefined)
      throw error
    }
  }

  return {
    kind: 's3',
    async write(id, content, { mediaType }) {
      await writeFrom(content, async (pieces) => {
        const parts = toParts(pieces, partBytes)
        const first = await parts.next()
        const head = first.done === true ? new Uint8Array() : first.value
        if (head.byteLength === partBytes) return writeParts(id, head, parts, mediaType)
        const sent = await request('PUT', addressOf(id), {
          body: head,
          headers: { 'content-type': mediaType },
        })
        await sent.body?.cancel()
      })
    },
    async read(id, range) {
      const headers = range === undefined ? {} : { range: `bytes=${range.start}-${range.end}` }
      const isExpected = (status: number) => [200, 206, 404].includes(status)
      const response = await request('GET', addressOf(id), { headers }, isExpected)
      if (response.status === 404 || response.body === null) {
        await response.body?.cancel()
        return response.status === 404 ? null : nothing()
      }
      const pieces = toPieces(response.body)
      // A service without support for ranges sends the whole file.
      return range === undefined || response.status === 206 ? pieces : cutToRange(pieces, range)
    },
    async remove(id) {
      const response = await request(
        'DELETE',
        addressOf(id),
        {},
        (status) => status < 300 || status === 404,
      )
      await response.body?.cancel()
    },
    async link(id, seconds) {
      const address = addressOf(id, `?X-Amz-Expires=${seconds}`)
      const signed = await client.sign(address, { method: 'GET', aws: { signQuery: true } })
      return signed.url
    },
  }
}

const fault = (what: string): HoldfastError =>
  new HoldfastError('store-failed', `The file store ${what}.`)

async function* nothing(): AsyncGenerator<Uint8Array> {}

/**
 * The pieces of a response. A reader that leaves cancels it at once, also before the first piece and while the service
 * sends nothing: the iterator of a stream would wait for the piece that is being read, and hold the connection.
 */
function toPieces(body: ReadableStream<Uint8Array>): AsyncIterableIterator<Uint8Array> {
  const reader = body.getReader()
  const over = { done: true, value: undefined } as const
  return {
    async next() {
      const { done, value } = await reader.read()
      return done ? over : { done, value }
    },
    async return() {
      // A response that broke off is over as well.
      await reader.cancel().catch(() => undefined)
      return over
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

const leastRoom = 65_536

/**
 * Cuts the bytes into parts of one size; the last one may be shorter. None if there are no bytes. The room for a part grows
 * with what has arrived: many uploads that stall at their beginning must not hold a whole part each (OP7).
 */
async function* toParts(
  content: AsyncIterable<Uint8Array>,
  partBytes: number,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let part = new Uint8Array()
  let size = 0
  for await (const chunk of content) {
    for (let at = 0; at < chunk.byteLength;) {
      const taken = chunk.subarray(at, at + partBytes - size)
      part = withRoom(part, size + taken.byteLength, partBytes)
      part.set(taken, size)
      size += taken.byteLength
      at += taken.byteLength
      if (size < partBytes) continue
      yield part
      part = new Uint8Array()
      size = 0
    }
  }
  if (size > 0) yield part.subarray(0, size)
}

/** Doubled, so that a source of single bytes does not copy all of them for each. */
function withRoom(
  part: Uint8Array<ArrayBuffer>,
  bytes: number,
  partBytes: number,
): Uint8Array<ArrayBuffer> {
  if (bytes <= part.byteLength) return part
  const larger = new Uint8Array(
    Math.min(partBytes, Math.max(leastRoom, bytes, part.byteLength * 2)),
  )
  larger.set(part)
  return larger
}
