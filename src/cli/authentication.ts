import { createHash, timingSafeEqual } from 'node:crypto'
import type { HandlerOptions } from '../server/handler-options.ts'
import { isLoopbackAddress, isLoopbackName } from '../server/loopback.ts'
import { CliError } from './cli-error.ts'

type Authenticate = NonNullable<HandlerOptions['authenticate']>

/**
 * The config's `authenticate` first, then the token; with neither everyone is `local`, and only this machine is served.
 */
export function chooseAuthentication(
  authenticate: Authenticate | undefined,
  token: string | undefined,
  host: string,
): Authenticate | undefined {
  if (authenticate !== undefined) return authenticate
  if (token !== undefined && token !== '') return byToken(token)
  if (isLoopback(host)) return undefined
  throw new CliError(
    `To listen on ${host}, which other machines can reach, set HOLDFAST_TOKEN, or pass --config a file with \`authenticate\`.`,
  )
}

function byToken(token: string): Authenticate {
  const expected = digest(token)
  return (request) => {
    const given = /^Bearer +(.+)$/i.exec(request.headers.get('authorization') ?? '')?.[1]
    return given !== undefined && timingSafeEqual(digest(given), expected) ? { id: 'local' } : null
  }
}

/** Of equal length whatever the input, so that the comparison reveals nothing. */
const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

const isLoopback = (host: string): boolean =>
  isLoopbackName(host.toLowerCase()) || isLoopbackAddress(host)
