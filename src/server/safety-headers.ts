/**
 * The security headers of every API response (HT5a): a response that a user is made to open as a page runs nothing, is
 * shown in no frame, is interpreted only as its declared type, and sends no referrer.
 */
export const safetyHeaders = {
  'content-security-policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-site',
} as const

/**
 * Those of them that fit the pages of any host application: what such a page may run and where it may be embedded is
 * for the host application to decide.
 */
export const pageSafetyHeaders = {
  'x-content-type-options': safetyHeaders['x-content-type-options'],
  'referrer-policy': safetyHeaders['referrer-policy'],
} as const

/**
 * Adds the headers that the response does not have. May return a new object: the headers of a redirect cannot be
 * changed.
 */
export function withSafetyHeaders(
  response: Response,
  safety: Readonly<Record<string, string>> = safetyHeaders,
): Response {
  const missing = Object.entries(safety).filter(([name]) => !response.headers.has(name))
  try {
    for (const [name, value] of missing) response.headers.set(name, value)
    return response
  } catch {
    // Immutable, like those of a redirect and of a `fetch` response.
    const headers = new Headers(response.headers)
    for (const [name, value] of missing) headers.set(name, value)
    const { status, statusText, body } = response
    return new Response(body, { status, statusText, headers })
  }
}
