import {
  badOption,
  callback,
  checkOptions,
  describeValue,
  flag,
  longestTimerMs,
  milliseconds,
  oneOfWords,
  type OptionTable,
  record,
  text,
  wholeNumber,
} from '../core/check-options.ts'
import { withDefined } from '../core/with-defined.ts'
import { basePathRule, toBasePath } from '../protocol/base-path.ts'
import type { HandlerOptions, Limits } from './handler-options.ts'
import type { ListenOptions, NodeListenerOptions } from './listen-options.ts'

/** The rules of `createHandler`. */
export const handlerRules: OptionTable<HandlerOptions> = {
  authenticate: callback('none: only this machine is answered'),
  localOnly: flag('false'),
  allowedOrigins: {
    range: 'a list of origins such as "https://app.example", without wildcards',
    fits: (value) => Array.isArray(value) && value.every((origin) => toOrigin(origin) !== null),
    default: 'none but its own',
  },
  trustProxy: flag('false'),
  waitUntil: callback('none: a run lives as long as the process does'),
  recoverSecret: {
    range: 'a string of at least 16 characters',
    fits: (value) => typeof value === 'string' && value.length >= 16,
    default: 'none: the route is 404',
  },
  basePath: basePathRule,
  threadMetadata: oneOfWords(['hidden', 'read', 'write'], '"hidden"'),
  sharing: flag('`false` beside `authenticate`, `true` without'),
  limits: record('an object of limits', 'see below'),
  keepAliveMs: milliseconds(1, longestTimerMs, '15,000'),
  log: callback('the error of a 5xx goes to the standard error'),
}

const most = Number.MAX_SAFE_INTEGER

/** The rules of `limits` of `createHandler`. */
export const limitRules: OptionTable<Limits> = {
  bodyBytes: wholeNumber(1, 1_073_741_824, '1,048,576'),
  importBytes: wholeNumber(1, 1_073_741_824, '67,108,864'),
  importMessageChars: wholeNumber(1, 1_073_741_824, '8,388,608'),
  textChars: wholeNumber(1, 1_073_741_824, '200,000'),
  runsPerOwner: wholeNumber(1, most, '1,000'),
  followersPerOwner: wholeNumber(1, most, '5,000'),
  followers: wholeNumber(1, most, '20,000'),
  jobsPerOwner: wholeNumber(1, 1_000, '4'),
  jobs: wholeNumber(1, 1_000, '8'),
  transfersPerOwner: wholeNumber(1, 1_000_000, '100'),
  transfers: wholeNumber(1, 1_000_000, '2,000'),
  unreadBytesPerOwner: wholeNumber(1, most, '33,554,432'),
  unreadBytes: wholeNumber(1, most, '268,435,456'),
}

/** The rules of `toNodeListener`. */
export const nodeListenerRules: OptionTable<NodeListenerOptions> = {
  stallMs: milliseconds(1, longestTimerMs, '30,000'),
  onError: callback('writes to the standard error'),
}

/** The rules of `listen`. */
export const listenRules: OptionTable<ListenOptions> = {
  port: wholeNumber(0, 65_535),
  host: text(),
  ...nodeListenerRules,
}

const otherNames = {
  auth: 'authenticate',
  authorize: 'authenticate',
  origins: 'allowedOrigins',
  cors: 'allowedOrigins',
  onError: 'log',
  logger: 'log',
}

/** The same options, checked, with origins as browsers write them. */
export function checkHandlerOptions(
  options: HandlerOptions,
  where = 'createHandler',
): HandlerOptions {
  checkOptions(where, options, handlerRules, otherNames)
  const { allowedOrigins, limits } = options
  if (limits !== undefined) checkOptions(`${where}, limits`, limits, limitRules)
  const basePath = toBasePath(options.basePath) ?? undefined
  return withDefined(options, {
    basePath,
    allowedOrigins: allowedOrigins?.map((origin) => {
      const known = toOrigin(origin)
      if (known === null) throw badOption(`${describeValue(origin)} is no origin.`)
      return known
    }),
  })
}

/**
 * Null for what no browser sends, and for `null` itself, which every page without an origin sends. Apps in a shell have
 * schemes of their own (`capacitor://localhost`), for which `URL` has no origin.
 */
function toOrigin(origin: unknown): string | null {
  if (typeof origin !== 'string' || origin.includes('*')) return null
  const url = URL.parse(origin)
  if (url === null || url.host === '' || url.username !== '' || /[?#]/.test(origin)) return null
  if (url.pathname !== '' && url.pathname !== '/') return null
  return url.origin === 'null' ? `${url.protocol}//${url.host}` : url.origin
}
