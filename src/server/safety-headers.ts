/**
 * What every answer of the API tells a browser (HT5a): whoever makes somebody open it as a page gets one that runs
 * nothing, is shown in no frame, is taken for nothing but what it says it is, and tells nobody where it was opened.
 */
export const safetyHeaders = {
  'content-security-policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-site',
} as const

/** Of them, what fits the pages of any host: what such a page may run and where it may be shown is for the host to say. */
export const pageSafetyHeaders = {
  'x-content-type-options': safetyHeaders['x-content-type-options'],
  'referrer-policy': safetyHeaders['referrer-policy'],
} as const

/** Adds what the answer does not say itself. It may be another object: headers of a redirect cannot be changed. */
export function withSafetyHeaders(
  response: Response,
  safety: Readonly<Record<string, string>> = safetyHeaders,
): Response {
  const missing = Object.entries(safety).filter(([name]) => !response.headers.has(name))
  try {
    for (const [name, value] of missing) response.headers.set(name, value)
    return response
  } catch {
    // Immutable, as those of a redirect and of what `fetch` returned are.
    const headers = new Headers(response.headers)
    for (const [name, value] of missing) headers.set(name, value)
    const { status, statusText, body } = response
    return new Response(body, { status, statusText, headers })
  }
}
