import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type ServerProcess, startServerProcess } from '../support/server-process.ts'
import { temporaryFile } from './temporary-file.ts'

/** Two real servers on one file. The first one runs a call that must not run twice; the second one looks. */
const leaseMs = 600

async function startTwo(env: Readonly<Record<string, string>> = {}) {
  const db = temporaryFile()
  const one = await startServerProcess({ db, env: { LEASE_MS: String(leaseMs) } })
  const two = await startServerProcess({ db, env: { LEASE_MS: String(leaseMs), ...env } })
  onTestFinished(async () => {
    await Promise.all([one.stop('SIGKILL'), two.stop('SIGKILL')])
  })
  return { db, one, two }
}

const sendMessage = (server: ServerProcess, id: string, text: string) =>
  fetch(`${server.url}/api/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      id,
      messages: [{ id: `${id}-u`, role: 'user', parts: [{ type: 'text', text }] }],
    }),
  })

const started = (server: ServerProcess) => server.log(({ type }) => type === 'call-started')
const ended = (server: ServerProcess) =>
  server.log(({ type }) => type === 'turn-ended' || type === 'turn-lost')

function readLease(db: string): { readonly holder: string; readonly until: number } {
  const raw = new DatabaseSync(db, { readOnly: true })
  try {
    const row = raw
      .prepare('SELECT lease_holder AS holder, lease_until AS until FROM threads')
      .get()
    return row as never
  } finally {
    raw.close()
  }
}

/** The other server has looked, several times, since the lease ran out. */
async function leaseIsLongOver(db: string): Promise<void> {
  await expect
    .poll(() => Date.now() - readLease(db).until, { timeout: 30_000 })
    .toBeGreaterThan(1_500)
}

// Only Linux says when a process was started (/proc), by which it is known to be the same one.
describe.skipIf(process.platform !== 'linux')('a process that lives', () => {
  it('[CR2 CR4] keeps its runs though it was busy for many times the length of a lease', async () => {
    const { db, one, two } = await startTwo()
    void sendMessage(one, 'busy', 'charge card')
    await started(one)
    // As foreign code does that blocks the event loop: no heartbeat, no timer, nothing.
    process.kill(one.pid, 'SIGSTOP')
    await leaseIsLongOver(db)
    const told = await sendMessage(two, 'busy-2', 'hello')
    expect(await told.text()).toContain('[DONE]')
    process.kill(one.pid, 'SIGCONT')
    expect(await ended(one)).toMatchObject({ type: 'turn-ended', ending: 'completed' })
    expect(two.logs.filter(({ how }) => how === 'taken-over')).toEqual([])
    const page = await (await fetch(`${two.url}/api/threads/busy/messages`)).text()
    expect(page).toContain('"state":"output-available"')
    expect(page).not.toContain('unknown')
  })

  it('[CR2 CR4] keeps its runs though the clock of another process has jumped by an hour', async () => {
    const jump = `data:text/javascript,${encodeURIComponent(
      'const now = Date.now; Date.now = () => now() + 3600000',
    )}`
    const { db, one, two } = await startTwo({ NODE_OPTIONS: `--import ${jump}` })
    void sendMessage(one, 'clock', 'charge card')
    await started(one)
    const { holder } = readLease(db)
    expect(await ended(one)).toMatchObject({ type: 'turn-ended', ending: 'completed' })
    expect(holder).toContain(`pid:${one.pid}:`)
    expect(two.logs.filter(({ how }) => how === 'taken-over')).toEqual([])
  })

  it('[CR2] and one that is killed loses them at once, whatever the clock says', async () => {
    const jump = `data:text/javascript,${encodeURIComponent(
      'const now = Date.now; Date.now = () => now() - 3600000',
    )}`
    const { one, two } = await startTwo({ NODE_OPTIONS: `--import ${jump}` })
    void sendMessage(one, 'dead', 'slow tool 60').catch(() => undefined)
    await started(one)
    await one.stop('SIGKILL')
    expect(await two.log(({ how }) => how === 'taken-over')).toMatchObject({ threadId: 'dead' })
  })
})
