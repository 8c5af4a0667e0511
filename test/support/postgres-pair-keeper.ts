// As postgres-keeper.ts, for two servers: a primary and a standby that streams from it. A line `stop-primary`
// on stdin kills the primary as a crash does; `cut-standby` ends the replication before.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, chown, cp, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import pg from 'pg'
import {
  type Cluster,
  createCluster,
  type Server,
  startServer,
  stopServer,
} from './postgres-cluster.ts'

const lines = createInterface(process.stdin)
const parentGone = once(lines, 'close')
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => process.stdin.destroy())
}

const root = await mkdtemp(join(tmpdir(), 'holdfast-postgres-pair-'))
const servers: Server[] = []
try {
  await chmod(root, 0o711)
  const password = randomBytes(16).toString('hex')
  const cluster = await createCluster(root, password)
  const primary = await startServer(cluster)
  servers.push(primary)
  const urlOf = ({ port }: Server) => `postgres://postgres:${password}@127.0.0.1:${port}/postgres`
  const copy = await copyCluster(cluster, urlOf(primary))
  // By a line of its own, which can be cut: what the primary then stores, the standby does not have.
  const replication = await openReplicationLine(primary.port)
  const conninfo = `host=127.0.0.1 port=${replication.port} user=postgres password=${password}`
  const standby = await startServer(
    copy,
    [`primary_conninfo=${conninfo}`],
    'database system is ready to accept read-only connections',
  )
  servers.push(standby)
  lines.on('line', (line) => {
    if (line === 'cut-standby') {
      replication.cut()
      process.stdout.write('cut\n')
    }
    if (line !== 'stop-primary') return
    primary.process.once('exit', () => process.stdout.write('stopped\n'))
    // PostgreSQL's "immediate shutdown": nobody is told, nothing is finished.
    primary.process.kill('SIGQUIT')
  })
  process.stdout.write(`${JSON.stringify({ urls: [urlOf(primary), urlOf(standby)] })}\n`)
  await parentGone
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
} finally {
  for (const server of servers.toReversed()) await stopServer(server)
  await rm(root, { recursive: true, force: true, maxRetries: 5 })
  process.stdin.destroy()
}

async function openReplicationLine(port: number) {
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect({ port, host: '127.0.0.1' })
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        near.destroy()
        far.destroy()
        sockets.delete(socket)
      })
    }
    near.pipe(far)
    far.pipe(near)
  }).unref()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** What pg_basebackup does, which is not among npm's binaries: a copy of the files while backup mode is on. */
async function copyCluster(cluster: Cluster, url: string): Promise<Cluster> {
  const dataFolder = join(dirname(cluster.dataFolder), 'standby')
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`SELECT pg_backup_start('standby', true)`)
  await cp(cluster.dataFolder, dataFolder, {
    recursive: true,
    filter: (file) => !file.endsWith('postmaster.pid'),
  })
  const { rows } = await client.query<{ labelfile: string }>(
    'SELECT labelfile FROM pg_backup_stop()',
  )
  await client.end()
  await writeFile(join(dataFolder, 'backup_label'), rows[0]?.labelfile ?? '')
  await writeFile(join(dataFolder, 'standby.signal'), '')
  const { uid, gid } = await stat(cluster.dataFolder)
  await chownAll(dataFolder, uid, gid)
  await chmod(dataFolder, 0o700)
  return { ...cluster, dataFolder }
}

async function chownAll(folder: string, uid: number, gid: number): Promise<void> {
  await chown(folder, uid, gid)
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await chownAll(path, uid, gid)
    else await chown(path, uid, gid)
  }
}
