import { request } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createHoldfast } from 'holdfast'
import { createHandler, listen } from 'holdfast/server'
import { type BenchStore, openBenchStores } from './bench-stores.ts'
import { ms, printTable, type Row } from './measure.ts'

const megabyte = 1_048_576
const fileBytes = 100 * megabyte
const piece = Buffer.alloc(65_536, 'a line of a large file\n')
/** Of the file: what may be held of it at once, on both ends of the connection. */
const bar = 0.2

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** One file of 100 MB over HTTP, up and down again: it is never in memory as a whole (FL1, OP7). */
export async function benchUpload(): Promise<void> {
  const rows: Row[] = []
  for (const benchStore of await openBenchStores()) {
    rows.push(...(await benchOne(benchStore)))
    await benchStore.close()
  }
  printTable(
    'Upload: a file of 100 MB over HTTP; how much was held of it at once, against the file',
    rows,
  )
}

async function benchOne({ name, store }: BenchStore): Promise<readonly Row[]> {
  const holdfast = createHoldfast({ store, recoverEveryMs: 0, files: { maxBytes: 2 * fileBytes } })
  const server = await listen(createHandler(holdfast), { host: '127.0.0.1', port: 0 })
  // A small one first: what is loaded once is no part of a file.
  await upload(server.url, megabyte)
  const up = await watchMemory(() => upload(server.url, fileBytes))
  const down = await watchMemory(async () => {
    for await (const _ of (await fetch(server.url + up.result)).body ?? []);
  })
  await server.close()
  await holdfast.close()
  return [
    { what: `${name}: up`, measured: describe(up), ratio: up.grewBy / fileBytes, bar },
    { what: `${name}: down`, measured: describe(down), ratio: down.grewBy / fileBytes, bar },
  ]
}

const describe = ({ tookMs, grewBy }: { readonly tookMs: number; readonly grewBy: number }) =>
  `${ms(tookMs)}, ${(grewBy / megabyte).toFixed(0)} MB`

/** The address of the file. */
function upload(url: string, bytes: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'text/plain', 'content-length': bytes }
    const sent = request(`${url}/api/files`, { method: 'POST', headers }, (answer) => {
      let text = ''
      answer.on('data', (data: Buffer) => {
        text += data.toString()
      })
      answer.on('end', () => {
        if (answer.statusCode === 201) resolve((JSON.parse(text) as { url: string }).url)
        else reject(new Error(text))
      })
    })
    pipeline(Readable.from(piecesOf(bytes)), sent).catch(reject)
  })
}

function* piecesOf(bytes: number): Generator<Buffer> {
  for (let left = bytes; left > 0; left -= piece.length) yield piece.subarray(0, left)
}

/** What is held, not what has not been collected yet: that grows until there is need. */
function heldBytes(): number {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

async function watchMemory<Result>(work: () => Promise<Result>) {
  const before = heldBytes()
  let most = before
  const timer = setInterval(() => {
    most = Math.max(most, heldBytes())
  }, 25)
  const start = performance.now()
  const result = await work()
  clearInterval(timer)
  return { result, tookMs: performance.now() - start, grewBy: most - before }
}
