import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../cli/run-holdfast.ts'
import { typeStripping } from '../support/type-stripping.ts'

/** A mount that nobody else sees, and that goes away with its process. */
const namespace = ['--user', '--map-root-user', '--mount']
const mount = 'mount -t tmpfs -o size=8m tmpfs "$0"'
const canMount =
  spawnSync('unshare', [...namespace, 'sh', '-c', mount, '/mnt'], { stdio: 'ignore' }).status === 0

/** A server whose database has a disk of 8 MB of its own, and commands in its folder. */
async function startOnSmallDisk() {
  const folder = temporaryFolder()
  const executable = join(import.meta.dirname, '../../src/cli/holdfast.ts')
  const flags = [...typeStripping, '--conditions=holdfast-source']
  const serve = [process.execPath, ...flags, executable, 'serve', '--port', '0']
  const script = `${mount} && { "$@" </dev/null & cd "$0"; while read -r line; do eval "$line"; echo done; done; kill $!; }`
  const db = join(folder, 'chat.db')
  const child = spawn('unshare', [...namespace, 'sh', '-c', script, folder, ...serve, '--db', db], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { ...process.env, HOLDFAST_DEMO_DELAY_MS: '0' },
  })
  const exited = once(child, 'close')
  onTestFinished(async () => {
    child.stdin.end()
    await exited
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const until = async (fits: RegExp): Promise<string> => {
    for (;;) {
      const { value, done } = await lines.next()
      if (done === true) throw new Error('The server has ended.')
      const found = fits.exec(value)
      if (found !== null) return found[1] ?? ''
    }
  }
  const url = await until(/^Holdfast is listening on (\S+)$/)
  return {
    async run(command: string) {
      child.stdin.write(`${command}\n`)
      await until(/^done$/)
    },
    async ready() {
      const response = await fetch(`${url}/api/ready`)
      const { error } = (await response.json()) as { readonly error?: { readonly reason: string } }
      return [response.status, error?.reason]
    },
    chat: (thread: string) =>
      fetch(`${url}/api/chat`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          id: thread,
          messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
        }),
      }),
  }
}

// Without namespaces of one's own, only root could mount a disk that is small enough to fill.
describe.skipIf(!canMount)('a disk that others fill', () => {
  it('[LG3a HT1] takes the server out before anybody writes, for as long as it is full', async () => {
    const server = await startOnSmallDisk()
    expect(await server.ready()).toEqual([200, undefined])
    await server.run('cat /dev/zero > filler 2>/dev/null')
    expect(await server.ready()).toEqual([503, 'store-full'])
    expect((await server.chat('full')).status).toBe(503)
    for (let asked = 0; asked < 20; asked++) {
      expect(await server.ready()).toEqual([503, 'store-full'])
    }
    await server.run('rm filler')
    await expect
      .poll(() => server.ready(), { interval: 250, timeout: 5_000 })
      .toEqual([200, undefined])
    expect((await server.chat('roomy')).status).toBe(200)
  }, 60_000)
})
