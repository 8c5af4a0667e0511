import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runHoldfast, startServer, temporaryFolder } from '../cli/run-holdfast.ts'

const send = (url: string, thread: string): Promise<Response> => {
  const text = `${thread} ${'x'.repeat(50_000)}`
  const message = { id: `${thread}-asks`, role: 'user', parts: [{ type: 'text', text }] }
  return fetch(`${url}/api/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id: thread, messages: [message] }),
  })
}

/** Reads on until something has come, and leaves. */
async function readTo(response: Response, what: RegExp): Promise<string | undefined> {
  const decoder = new TextDecoder()
  let seen = ''
  for await (const bytes of response.body ?? []) {
    seen += decoder.decode(bytes, { stream: true })
    const found = what.exec(seen)?.[0]
    if (found !== undefined) return found
  }
  return undefined
}

const readPages = (url: string, threads: readonly string[]): Promise<readonly string[]> =>
  Promise.all(
    threads.map(async (thread) => {
      const page = await fetch(`${url}/api/threads/${thread}/messages`)
      expect(page.status).toBe(200)
      return page.text()
    }),
  )

it('[LG3 LG3a HT1] a disk that takes no more is said to be so; what was shown stays, and is there when it does again', async () => {
  const db = join(temporaryFolder(), 'chat.db')
  const full = await startServer(['--db', db], { largestFile: 1_024 })
  const answered: string[] = []
  let refused: Response | undefined
  for (let index = 0; refused === undefined; index++) {
    // More than the file may hold.
    expect(index).toBeLessThan(100)
    const thread = `thread-${index}`
    const response = await send(full.url, thread)
    if (response.status !== 200) refused = response
    // One that waits for the disk, or for a slow moment of it to be over, is left to itself.
    else if ((await readTo(response, /"finish"|saving-interrupted|"error"/)) === '"finish"') {
      answered.push(thread)
    }
  }
  expect([refused.status, await refused.json()]).toMatchObject([
    503,
    { error: { code: 'store-full' } },
  ])
  expect(answered.length).toBeGreaterThan(0)
  const ready = await fetch(`${full.url}/api/ready`)
  expect([ready.status, (await fetch(`${full.url}/api/health`)).status]).toEqual([503, 200])
  const shown = await readPages(full.url, answered)
  full.process.kill('SIGKILL')
  await full.exited

  const roomy = await startServer(['--db', db])
  expect(await readPages(roomy.url, answered)).toEqual(shown)
  const again = await send(roomy.url, 'once-more')
  expect([again.status, await readTo(again, /"finish"|"error"/)]).toEqual([200, '"finish"'])
  roomy.process.kill('SIGTERM')
  await roomy.exited
  expect(await runHoldfast(['check', '--db', db])).toMatchObject({ code: 0 })
})
