import { mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import type { BrowserContext } from 'playwright-core'
import { type Alias, build, defaultClientConditions } from 'vite'

/** A page of the tests, built as a host would build it, and shown in place of the app's own. */
export interface BuiltPage {
  /** From now on this context gets the page wherever the server would show its own. */
  showIn(context: BrowserContext): Promise<void>
  remove(): void
}

export interface BuildPageOptions {
  /** The folder that has its index.html. */
  readonly root: string
  /** `development`: with all that React checks only there, strict mode above all. */
  readonly mode?: 'development' | 'production'
  readonly react?: '18' | '19'
}

/** Whoever asks for React gets 18, the libraries among them. */
const react18: readonly Alias[] = [
  { find: /^react(?=\/|$)/, replacement: 'react18' },
  { find: /^react-dom(?=\/|$)/, replacement: 'react-dom18' },
]

export async function buildPage(options: BuildPageOptions): Promise<BuiltPage> {
  const { root, mode = 'production', react = '19' } = options
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-page-'))
  await build({
    root,
    mode,
    configFile: false,
    // Libraries say 'use client', which a bundler cannot keep, and says so.
    logLevel: 'error',
    define: { 'process.env.NODE_ENV': JSON.stringify(mode) },
    resolve: {
      alias: react === '18' ? [...react18] : [],
      conditions: ['holdfast-source', ...defaultClientConditions],
    },
    oxc: { jsx: { runtime: 'automatic', development: false } },
    build: { outDir: folder, emptyOutDir: true, minify: false, reportCompressedSize: false },
  })
  return {
    async showIn(context) {
      await context.route(
        ({ pathname }) => !pathname.startsWith('/api/'),
        async (route) => {
          const { pathname } = new URL(route.request().url())
          const file = pathname.startsWith('/assets/') ? pathname : 'index.html'
          const body = await readFile(join(folder, file))
          await route.fulfill({ body, contentType: types[extname(file)] ?? 'text/plain' })
        },
      )
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
}
