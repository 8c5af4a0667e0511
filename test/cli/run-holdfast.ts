import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { typeStripping } from '../support/type-stripping.ts'

const executable = join(import.meta.dirname, '../../src/cli/holdfast.ts')

export interface Outcome {
  readonly code: number | null
  readonly out: string
  readonly err: string
}
export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
  readonly folder?: string
  /** As another account. */
  readonly uid?: number
  /** No file of its may grow beyond so many kibibytes: to write more fails, as on a disk that takes no more. */
  readonly largestFile?: number
  /** Stops reading what it writes after so many characters. */
  readonly reads?: number
}

/** The real executable, to its end. */
export async function runHoldfast(
  args: readonly string[],
  options: RunOptions = {},
): Promise<Outcome> {
  const child = start(args, options)
  // One that does not end, as it should have, is not left behind.
  onTestFinished(() => void child.kill('SIGKILL'))
  child.stdin?.end(options.input ?? '')
  const [out, err, code] = await Promise.all([
    readSome(child.stdout as Readable, options.reads ?? Number.POSITIVE_INFINITY),
    text(child.stderr as NodeJS.ReadableStream),
    exitOf(child),
  ])
  return { code, out, err }
}

export interface Server {
  readonly url: string
  readonly process: ChildProcess
  /** The lines of its log so far, and the first one that fits, whenever it comes. */
  readonly log: readonly string[]
  until(fits: (line: string) => boolean): Promise<string>
  readonly exited: Promise<number | null>
}

/** `holdfast serve` on a free port; resolves when it says where it listens. */
export async function startServer(
  args: readonly string[],
  options: RunOptions = {},
): Promise<Server> {
  const child = start(['serve', '--port', '0', ...args], options)
  const exited = exitOf(child)
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  const log: string[] = []
  const waiting = new Set<(line: string) => void>()
  createInterface({ input: child.stderr as NodeJS.ReadableStream }).on('line', (line) => {
    log.push(line)
    for (const onLine of waiting) onLine(line)
  })
  const until = (fits: (line: string) => boolean): Promise<string> =>
    new Promise((resolve) => {
      const known = log.find(fits)
      if (known !== undefined) resolve(known)
      const onLine = (line: string) => {
        if (!fits(line)) return
        waiting.delete(onLine)
        resolve(line)
      }
      waiting.add(onLine)
    })
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const found = /^Holdfast is listening on (\S+)$/.exec(line)?.[1]
      if (found !== undefined) resolve(found)
    })
    void exited.then((code) => reject(new Error(`exited with ${code}: ${log.join('\n')}`)))
  })
  return { url, process: child, log, until, exited }
}

/** A folder for one test. */
export function temporaryFolder(files: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-cli-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
  return folder
}

function start(args: readonly string[], options: RunOptions): ChildProcess {
  const { env, folder, uid, largestFile } = options
  const { PATH, HOME, SystemRoot, TMPDIR, NODE_COMPILE_CACHE } = process.env
  const base = { PATH, HOME, SystemRoot, TMPDIR, NODE_COMPILE_CACHE, HOLDFAST_DEMO_DELAY_MS: '0' }
  const flags = [...typeStripping, '--conditions=holdfast-source']
  const command = [process.execPath, ...flags, executable, ...args]
  const limited =
    largestFile === undefined
      ? command
      : ['bash', '-c', `ulimit -S -f ${largestFile}; exec "$@"`, 'bash', ...command]
  const [program = '', ...programArgs] = limited
  return spawn(program, programArgs, {
    cwd: folder,
    ...(uid === undefined ? {} : { uid }),
    env: { ...base, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
}

async function readSome(stream: Readable, most: number): Promise<string> {
  let read = ''
  // Leaving the loop closes the stream.
  for await (const piece of stream.setEncoding('utf8')) {
    read += String(piece)
    if (read.length > most) break
  }
  return read
}

const exitOf = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => {
    child.on('close', (code) => resolve(code))
  })
