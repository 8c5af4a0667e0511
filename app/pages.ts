import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/**
 * Only our own files run, and only our own server is asked: whatever a model or a tool says (HT5). No inline script or
 * style, no frame and no form; and with trusted types, nothing can be made into markup or script at run time either.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const safety = {
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
}

/** Serves a built web app from a folder. An address without a file is a place in the app. */
export function createPages(folder: string): (request: Request) => Promise<Response | null> {
  return async (request) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return null
    const { pathname } = new URL(request.url)
    // One folder deep and plain names only: there is no path that leads out.
    const [, name] = /^\/((?:assets\/)?[\w-]+(?:\.[\w-]+)*\.[a-z]+)$/.exec(pathname) ?? []
    if (name !== undefined) return toResponse(folder, name)
    const isShared = pathname.startsWith('/s/')
    const isPlace = pathname === '/' || pathname.startsWith('/t/') || isShared
    const page = isPlace ? await toResponse(folder, 'index.html') : null
    // Whoever was given a link shared it with nobody else, a search engine least of all.
    if (isShared) page?.headers.set('x-robots-tag', 'noindex, nofollow')
    return page
  }
}

async function toResponse(folder: string, name: string): Promise<Response | null> {
  const type = types[extname(name)]
  if (type === undefined) return null
  try {
    const body = new Uint8Array(await readFile(join(folder, name)))
    const isHashed = name.startsWith('assets/')
    const caching = isHashed ? 'public, max-age=31536000, immutable' : 'no-cache'
    return new Response(body, {
      headers: { ...safety, 'content-type': type, 'cache-control': caching },
    })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
