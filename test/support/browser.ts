import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { type Browser, chromium as playwright } from 'playwright-core'

const cache = join(import.meta.dirname, '../../node_modules/.cache/holdfast-chromium')

/** What keeps Chromium from talking to anybody but the page's own server. */
const quiet = [
  '--no-sandbox',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--disable-quic',
  '--disable-gpu',
  '--hide-scrollbars',
]

/** A real browser. CHROMIUM names one; without it, on linux-x64, the one that came with npm. */
export async function openBrowser(): Promise<Browser> {
  const own = process.env['CHROMIUM']
  const executablePath = own ?? (await unpackChromium())
  return playwright.launch({ executablePath, args: quiet, env: browserEnvironment(own) })
}

/** Whether there is a browser to test with here; a test that is skipped says this. */
export const hasBrowser =
  process.env['CHROMIUM'] !== undefined || (process.platform === 'linux' && process.arch === 'x64')

const unpacked = (): string => join(cache, chromiumVersion())

function chromiumVersion(): string {
  const require = createRequire(import.meta.url)
  const entry = require.resolve('@sparticuz/chromium')
  const { version } = require(join(dirname(entry), '../package.json')) as { version: string }
  return version
}

/**
 * Unpacks beside its place and is then moved there in one step: several test files may come here at
 * once, and none may start a browser that another one is still writing.
 */
async function unpackChromium(): Promise<string> {
  const target = unpacked()
  const program = join(target, 'chromium')
  if (existsSync(program)) return program
  const { inflate } = await import('@sparticuz/chromium')
  const packed = join(
    dirname(createRequire(import.meta.url).resolve('@sparticuz/chromium')),
    '../bin',
  )
  const own = join(cache, `unpacking-${process.pid}`)
  await mkdir(own, { recursive: true })
  const before = process.env['TMPDIR']
  process.env['TMPDIR'] = own
  try {
    for (const name of ['chromium.br', 'fonts.tar.br', 'swiftshader.tar.br', 'al2023.tar.br']) {
      await inflate(join(packed, name))
    }
  } finally {
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
  }
  try {
    await rename(own, target)
  } catch (error) {
    if (!existsSync(program)) throw error
    // Another process was first.
    await rm(own, { recursive: true })
  }
  return program
}

function browserEnvironment(own: string | undefined): Record<string, string> {
  const env = Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  )
  if (own !== undefined) return env
  const libraries = join(unpacked(), 'al2023/lib')
  return {
    ...env,
    FONTCONFIG_PATH: join(unpacked(), 'fonts'),
    LD_LIBRARY_PATH: [libraries, env['LD_LIBRARY_PATH'] ?? '']
      .filter((path) => path !== '')
      .join(':'),
    TMPDIR: cache,
  }
}
