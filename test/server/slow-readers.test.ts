import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { typeStripping } from '../support/type-stripping.ts'

const megabyte = 1_048_576
const connections = 60
const threads = ['a', 'b', 'c', 'd']
const turns = 6

it('[OP7] one who imports much and reads nothing takes neither the memory of the process nor its time', async () => {
  const server = await start()
  for (const thread of threads) await importThread(server.url, thread)
  const before = await server.measure()
  const { hostname, port } = new URL(server.url)
  const paths = (thread: string) => [
    `/api/threads/${thread}/events`,
    `/api/threads/${thread}/messages?limit=200`,
    `/api/chat/${thread}/stream?message=${thread}-a0`,
    `/api/chat/${thread}/stream?message=${thread}-a1&protocol=data-stream`,
  ]
  const all = threads.flatMap(paths)
  const answered = Array.from({ length: connections }, async (_, index) => {
    const socket = connect(Number(port), hostname)
    onTestFinished(() => void socket.destroy())
    socket.on('error', () => undefined)
    socket.write(`GET ${all[index % all.length]} HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`)
    // The head is looked at, and nothing is ever taken.
    await once(socket, 'readable')
  })
  await Promise.all(answered)
  let most = 0
  for (let look = 0; look < 20; look++) {
    const health = await fetch(`${server.url}/api/health`)
    expect(health.status).toBe(200)
    await health.text()
    most = Math.max(most, (await server.measure()).rss - before.rss)
  }
  expect(most).toBeLessThan(160 * megabyte)
})

async function importThread(url: string, thread: string): Promise<void> {
  const messages = Array.from({ length: turns }, (_, turn) => [
    { id: `${thread}-u${turn}`, role: 'user', parts: [{ type: 'text', text: 'Look it up.' }] },
    {
      id: `${thread}-a${turn}`,
      role: 'assistant',
      parts: [
        {
          type: 'tool-look_up',
          toolCallId: `${thread}-${turn}`,
          state: 'output-available',
          input: {},
          output: 'x'.repeat(megabyte),
        },
        { type: 'text', text: 'Found.' },
      ],
    },
  ]).flat()
  const response = await fetch(`${url}/api/import?format=ui`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ threads: [{ id: thread, messages }] }),
  })
  await response.text()
  expect(response.status).toBe(200)
}

async function start() {
  const child = fork(join(import.meta.dirname, 'slow-readers-process.ts'), {
    execArgv: [
      ...typeStripping,
      '--conditions=holdfast-source',
      '--expose-gc',
      '--max-old-space-size=200',
    ],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const exited = once(child, 'exit')
  const answer = async <Answer>(): Promise<Answer> => {
    const said = await Promise.race([once(child, 'message'), exited.then(() => undefined)])
    if (said === undefined) throw new Error('The server has died.')
    return said[0] as Answer
  }
  const { url } = await answer<{ readonly url: string }>()
  return {
    url,
    measure() {
      child.send('memory')
      return answer<{ readonly rss: number; readonly followers: number }>()
    },
  }
}
