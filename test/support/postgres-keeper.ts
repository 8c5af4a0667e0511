// A process of its own that owns one temporary PostgreSQL. It lives as long as its stdin is open, so
// the server is stopped and its folder deleted however the parent ends: by stop(), by Ctrl-C (the
// keeper is in a process group of its own and does not get it) or by kill -9.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCluster, type Server, startServer, stopServer } from './postgres-cluster.ts'

const parentGone = once(process.stdin.resume(), 'close')
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => process.stdin.destroy())
}

const root = await mkdtemp(join(tmpdir(), 'holdfast-postgres-'))
let server: Server | undefined
try {
  // The account that runs the server must be able to pass through; what is below is its own.
  await chmod(root, 0o711)
  const password = randomBytes(16).toString('hex')
  const cluster = await createCluster(root, password)
  server = await startServer(cluster)
  const url = `postgres://postgres:${password}@127.0.0.1:${server.port}/postgres`
  process.stdout.write(`${JSON.stringify({ url, folder: root })}\n`)
  const died = once(server.process, 'exit').then(() => 'died' as const)
  const outcome = await Promise.race([died, parentGone])
  if (outcome === 'died') throw new Error('PostgreSQL ended by itself')
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
} finally {
  if (server) await stopServer(server)
  await rm(root, { recursive: true, force: true, maxRetries: 5 })
  process.stdin.destroy()
}
