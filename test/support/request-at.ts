import { request } from 'node:http'

export interface RequestAtOptions {
  readonly method?: string
  /** `host` included, which `fetch` does not let one choose. */
  readonly headers?: Readonly<Record<string, string>>
  readonly path?: string
  readonly body?: string
}
export interface Answered {
  readonly status: number
  readonly text: string
}

/** Sends a request to an address under any host name, as a browser does after it has looked the name up. */
export function requestAt(
  port: number,
  address: string,
  asked: RequestAtOptions = {},
): Promise<Answered> {
  const { headers = {}, path = '/api/threads', body } = asked
  const { method = body === undefined ? 'GET' : 'POST' } = asked
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: address, path, headers, method }, (response) => {
      let text = ''
      response.on('data', (data: Buffer) => (text += data.toString()))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
