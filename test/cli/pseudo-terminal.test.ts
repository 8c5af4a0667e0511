import { spawn, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from './run-holdfast.ts'

const escape = '\u001B'
const plain = (shown: string) => stripVTControlCharacters(shown)
const bar = /█+░+ +\d+ % [\d,]+ messages/
const executable = join(import.meta.dirname, '../../src/cli/holdfast.ts')
// util-linux's: it runs a command as if in a terminal, and passes on what that would show.
const hasTerminal = spawnSync('script', ['--version']).stdout?.toString().includes('util-linux')

async function runInTerminal(command: string, env: Readonly<Record<string, string>> = {}) {
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    env: { PATH: process.env['PATH'], TERM: 'xterm', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = new Promise<number | null>((resolve) => {
    child.on('close', (code) => resolve(code))
  })
  return { shown: await text(child.stdout), code: await exited }
}

/** Longer than the bar waits before it first shows, and than what is read at once. */
function writeMany(folder: string): string {
  const messages = Array.from({ length: 10_000 }, (_, index) => ({
    id: `u${index}`,
    role: index === 5 ? 'zebra' : 'user',
    parts: [{ type: 'text', text: 'Hello. '.repeat(80) }],
  }))
  const file = join(folder, 'many.json')
  writeFileSync(file, JSON.stringify({ id: 't', messages }))
  return file
}

// Elsewhere than on Linux there is no command that gives a program a terminal; see `hasTerminal`.
describe.skipIf(!hasTerminal)('in a real terminal (util-linux `script`)', () => {
  const importInto = (folder: string) =>
    `'${process.execPath}' --conditions=holdfast-source '${executable}' import '${writeMany(folder)}' --db '${join(folder, 'x.db')}'`

  it('an import shows a bar in colours, takes it away, and ends with its report', async () => {
    const { shown, code } = await runInTerminal(importInto(temporaryFolder()))
    expect(code).toBe(1)
    expect(plain(shown)).toMatch(bar)
    expect(shown).toContain(`${escape}[32m█`)
    expect(shown).toContain(`${escape}[2m░`)
    expect(shown).toContain(`${escape}[31mfailed${escape}[0m messages[5]: Its role "zebra"`)
    const [last = ''] = shown.trimEnd().split(`\r${escape}[K`).slice(-1)
    expect(last).toMatch(/^Read 1 thread, 9,999 messages, /)
  })

  it('NO_COLOR leaves the bar and takes the colours', async () => {
    const { shown } = await runInTerminal(importInto(temporaryFolder()), { NO_COLOR: '1' })
    expect(shown).toMatch(bar)
    expect(shown.replaceAll(`\r${escape}[K`, '')).not.toContain(escape)
  })
})
