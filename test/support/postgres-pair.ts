import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { typeStripping } from './type-stripping.ts'

/** Two real servers: a primary, and a standby that streams from it. */
export interface PostgresPair {
  /** A superuser's: first the primary's. */
  readonly urls: readonly [string, string]
  /** As a crash does: connections break, and nobody is at its address any more. */
  stopPrimary(): Promise<void>
  /** What is stored from here on, the standby does not get. */
  cutStandby(): Promise<void>
  stop(): Promise<void>
}

/** They end with `stop()`, or with this process, however that ends. */
export async function startPostgresPair(): Promise<PostgresPair> {
  const keeper = spawn(
    process.execPath,
    [...typeStripping, join(import.meta.dirname, 'postgres-pair-keeper.ts')],
    { detached: true, stdio: ['pipe', 'pipe', 'pipe'] },
  )
  let complaints = ''
  keeper.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints += text
  })
  const exited = once(keeper, 'close')
  const lines = createInterface(keeper.stdout)
  const nextLine = () => once(lines, 'line').then(([line]) => String(line))
  const ready = await Promise.race([nextLine(), exited.then(() => undefined)])
  if (ready === undefined) throw new Error(`No two servers could be started.\n${complaints.trim()}`)
  const { urls } = JSON.parse(ready) as { readonly urls: readonly [string, string] }
  const sendCommand = async (word: string) => {
    const done = nextLine()
    keeper.stdin.write(`${word}\n`)
    await done
  }
  return {
    urls,
    stopPrimary: () => sendCommand('stop-primary'),
    cutStandby: () => sendCommand('cut-standby'),
    async stop() {
      keeper.stdin.end()
      await exited
    },
  }
}
