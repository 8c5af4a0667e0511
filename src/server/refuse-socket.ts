import type { Duplex } from 'node:stream'
import { safetyHeaders } from './safety-headers.ts'

const answers: Readonly<Record<string, readonly [status: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The headers are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request took too long to arrive.'],
}

/**
 * For input that never became a request: broken HTTP, endless headers. The error response has the usual form (HT1),
 * unlike Node's own, which is empty.
 */
export function refuseSocket(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const [status, message] = answers[error.code ?? ''] ?? [
    '400 Bad Request',
    'This is not valid HTTP.',
  ]
  const body = JSON.stringify({ error: { code: 'bad-request', message } })
  socket.end(
    [
      `HTTP/1.1 ${status}`,
      'content-type: application/json',
      ...Object.entries(safetyHeaders).map(([name, value]) => `${name}: ${value}`),
      `content-length: ${Buffer.byteLength(body)}`,
      'connection: close',
      '',
      body,
    ].join('\r\n'),
  )
}
