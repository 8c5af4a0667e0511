import type { HandlerOptions } from '../server/handler-options.ts'
import { isLoopbackAddress, isLoopbackName } from '../server/loopback.ts'
import { CliError } from './cli-error.ts'
import { hasBearer } from '../server/bearer-secret.ts'

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

const byToken =
  (token: string): Authenticate =>
  (request) =>
    hasBearer(request.headers, token) ? { id: 'local' } : null

const isLoopback = (host: string): boolean =>
  isLoopbackName(host.toLowerCase()) || isLoopbackAddress(host)
