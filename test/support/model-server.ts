import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

export interface ModelRequest {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: unknown
}

export type Reply = (response: ServerResponse) => void | Promise<void>

/** A model's HTTP API that answers what it is told to, down to the byte and the broken socket. */
export interface ModelServer {
  readonly url: string
  readonly requests: readonly ModelRequest[]
  /** What the next requests get, one each, in order; after the last one, 500 and no retry. */
  reply(...replies: readonly Reply[]): void
  close(): Promise<void>
}

export async function startModelServer(): Promise<ModelServer> {
  const requests: ModelRequest[] = []
  const replies: Reply[] = []
  const server = createServer((request, response) => {
    void (async () => {
      requests.push({
        path: request.url ?? '',
        headers: request.headers,
        body: await json(request),
      })
      const reply = replies.shift() ?? refuse(501, { error: { message: 'nothing to say' } })
      await reply(response)
    })()
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    reply: (...more) => void replies.push(...more),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

export const refuse =
  (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Reply =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify(body))
  }

/** Sends frames and ends the response as if all had been said. */
export const stream =
  (...frames: readonly string[]): Reply =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(frames.join(''))
  }

/** Sends frames, waits, and breaks the connection in the middle of the response. */
export const streamAndBreak =
  (frames: readonly string[], until: Promise<unknown>): Reply =>
  async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(frames.join(''))
    await until
    response.destroy()
  }
