import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'

/** Where `npm run build` puts the page. */
const folder = join(import.meta.dirname, 'dist')

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
}

/** A file of the built page; null where a request is for something else. */
export async function readPage(request: Request): Promise<Response | null> {
  const { pathname } = new URL(request.url)
  // Plain names only: no path leads out of the folder.
  const [, name] = /^\/(assets\/[\w-]+\.[a-z]+)$/.exec(pathname) ?? []
  const file = pathname === '/' ? 'index.html' : name
  const type = types[extname(file ?? '')]
  if (file === undefined || type === undefined) return null
  const body = await readFile(join(folder, file)).catch(() => null)
  if (body !== null) return new Response(body, { headers: { 'content-type': type } })
  return pathname === '/'
    ? new Response('The page is not built yet. Run `npm run build`.\n', { status: 404 })
    : null
}
