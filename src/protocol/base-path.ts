import type { OptionRule } from '../core/check-options.ts'

/**
 * The path under which all routes are mounted, normalised: empty, or with a slash before it and none after
 * it. Null for what is not a path: a URL with a host or a query, a segment that is empty or that a browser
 * would resolve away, or characters that a browser would encode differently from the request.
 */
export function toBasePath(value: unknown): string | null {
  if (typeof value !== 'string') return null
  const path = value.endsWith('/') ? value.slice(0, -1) : value
  if (path === '') return ''
  const segments = path.split('/')
  const isPath =
    segments.shift() === '' &&
    segments.every((segment) => /^(?:[\w.~!$&'()*+,;=:@-]|%[0-9A-F]{2})+$/.test(segment)) &&
    // A browser treats the percent form of a dot as a dot.
    segments.every((segment) => !/^(?:\.|%2E){1,2}$/.test(segment))
  return isPath ? path : null
}

/** What follows the base path, with its slash; null where the URL is not under it. */
export function withoutBasePath(pathname: string, basePath: string): string | null {
  if (basePath === '') return pathname
  return pathname.startsWith(`${basePath}/`) ? pathname.slice(basePath.length) : null
}

/** One rule for the handler and for the clients, which have to agree. */
export const basePathRule: OptionRule = {
  range: 'a path such as "/chat/v1": a slash, then segments of an address as a browser writes them',
  fits: (value) => toBasePath(value) !== null,
  default: 'none',
}
