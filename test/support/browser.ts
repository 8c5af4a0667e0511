import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
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
  if (own !== undefined) return playwright.launch({ executablePath: own, args: quiet })
  const executablePath = await unpackChromium()
  const env = browserEnvironment(await writeFontConfig())
  return playwright.launch({ executablePath, args: quiet, env })
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
  const own = await makeScratch()
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

/**
 * The package's own `fonts.conf` names folders of the place it was made for (`/var/task`, `/tmp/fonts`).
 * Without a font Chromium dies at the first text it draws, so it gets a configuration that names the
 * fonts where they were unpacked. Written at each start, because a checkout can be moved.
 */
async function writeFontConfig(): Promise<string> {
  const path = join(unpacked(), 'holdfast-fonts.conf')
  const config = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${escapeXml(join(unpacked(), 'fonts/fonts'))}</dir>
  <cachedir>${escapeXml(join(cache, 'font-cache'))}</cachedir>
</fontconfig>
`
  const written = existsSync(path) ? await readFile(path, 'utf8') : undefined
  if (written === config) return path
  // Moved into place in one step: a browser that another process starts never reads half a file.
  const scratch = await makeScratch()
  await writeFile(join(scratch, 'fonts.conf'), config)
  await rename(join(scratch, 'fonts.conf'), path)
  await rm(scratch, { recursive: true })
  return path
}

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

async function makeScratch(): Promise<string> {
  await mkdir(cache, { recursive: true })
  return mkdtemp(join(cache, 'unpacking-'))
}

/**
 * What the unpacked Chromium needs is beside it: its libraries, its fonts, and a home of its own, so
 * that neither the user's settings nor an installed system package changes what a test sees.
 */
function browserEnvironment(fontConfig: string): Record<string, string> {
  const env = Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined || name.startsWith('XDG_') || name === 'FONTCONFIG_PATH'
        ? []
        : [[name, value]],
    ),
  )
  const libraries = join(unpacked(), 'al2023/lib')
  return {
    ...env,
    HOME: cache,
    FONTCONFIG_FILE: fontConfig,
    LD_LIBRARY_PATH: [libraries, env['LD_LIBRARY_PATH'] ?? '']
      .filter((path) => path !== '')
      .join(':'),
    TMPDIR: cache,
  }
}
