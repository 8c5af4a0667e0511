import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import pg from 'pg'
import { pollUntil } from './poll-until.ts'

/** A real PgBouncer in transaction mode. */
export interface PgBouncer {
  readonly url: string
  close(): Promise<void>
}

/** That of HOLDFAST_TEST_PGBOUNCER, or the first on the path; null where there is none. */
export function findPgBouncer(): string | null {
  const { HOLDFAST_TEST_PGBOUNCER: own, PATH = '' } = process.env
  if (own !== undefined && own !== '') return own
  const folders = [...PATH.split(delimiter), '/usr/sbin', '/usr/local/sbin']
  return folders.map((folder) => join(folder, 'pgbouncer')).find((file) => existsSync(file)) ?? null
}

export async function startPgBouncer(program: string, serverUrl: string): Promise<PgBouncer> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-pgbouncer-'))
  const server = new URL(serverUrl)
  const port = await findPort()
  const file = join(folder, 'pgbouncer.ini')
  await writeFile(
    file,
    `[databases]
* = host=${server.hostname} port=${server.port} user=${server.username} password=${server.password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 6
max_client_conn = 200
server_reset_query =
`,
  )
  // It refuses to run as root, as PostgreSQL does.
  const isRoot = process.getuid?.() === 0
  const nobody = isRoot ? Number(spawnSync('id', ['-u', 'nobody'], { encoding: 'utf8' }).stdout) : 0
  await chmod(folder, 0o755)
  const child: ChildProcess = spawn(program, [file], {
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(isRoot ? { uid: nobody, gid: nobody } : {}),
  })
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const ended = once(child, 'exit')
  const url = new URL(serverUrl)
  url.host = `127.0.0.1:${port}`
  const close = async () => {
    child.kill('SIGKILL')
    await ended
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await pollUntil(
      async () => {
        if (child.exitCode !== null) throw new Error(`PgBouncer did not start.\n${said}`)
        const client = new pg.Client({ connectionString: url.href })
        client.on('error', () => {})
        const isUp = await client.connect().then(
          () => true,
          () => false,
        )
        await client.end().catch(() => {})
        return isUp
      },
      (isUp) => isUp,
      { what: 'PgBouncer to answer' },
    )
  } catch (error) {
    await close()
    throw error
  }
  return { url: url.href, close }
}

async function findPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
