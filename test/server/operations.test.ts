import type { RequestRecord } from 'holdfast/server'
import { describe, expect, it } from 'vitest'
import { startChatServer } from './chat-server.ts'

const script = () => [{ call: 'boom', input: {} }, { finish: 'length' }] as const

const open = (url: string, text: string) =>
  fetch(`${url}/api/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      id: 'secret-thread',
      messages: [{ id: 'u', role: 'user', parts: [{ type: 'text', text }] }],
    }),
  })

const send = async (url: string, text: string) => void (await (await open(url, text)).text())

async function readUntil(response: Response, fits: RegExp): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true })
    if (fits.test(text)) break
  }
  return text
}

describe('for whoever runs it', () => {
  it('[HT1] logs one record per request, without content, ids or addresses', async () => {
    const records: RequestRecord[] = []
    const { url } = await startChatServer(script, {
      handler: { log: (record) => records.push(record) },
    })
    await send(url, 'secret words')
    await fetch(`${url}/api/threads/secret-thread/messages?cursor=secret`)
    await fetch(`${url}/secret`)
    expect(records.map(({ method, route, status }) => [method, route, status])).toEqual([
      ['POST', '/api/chat', 200],
      ['GET', '/api/threads/:id/messages', 400],
      ['GET', '', 404],
    ])
    expect(records.every(({ ms }) => ms >= 0)).toBe(true)
    expect(JSON.stringify(records)).not.toContain('secret')
  })

  it('[RS2 RS3] keeps idle streams open with comments', async () => {
    const { url } = await startChatServer(() => [{ call: 'hang', input: {} }], {
      handler: { keepAliveMs: 5 },
    })
    const chat = await open(url, 'hang')
    const events = await fetch(`${url}/api/threads/secret-thread/events`)
    for (const stream of [chat, events]) {
      expect(await readUntil(stream, /(: keep-alive\n\n[^]*){3}/)).toMatch(/^: open\n\n/)
    }
    await fetch(`${url}/api/chat/secret-thread/stop`, { method: 'POST' })
  })

  it('[HT1] answers a store that fails with 503, says nothing of it, and logs it', async () => {
    const records: RequestRecord[] = []
    const { url, holdfast } = await startChatServer(script, {
      handler: { log: (record) => records.push(record) },
    })
    await holdfast.store.close()
    const response = await fetch(`${url}/api/threads`)
    const { error } = (await response.json()) as { error: { code: string; message: string } }
    expect([response.status, error.code]).toEqual([503, 'store-closed'])
    expect(records[0]?.error).toBeInstanceOf(Error)
    expect((await fetch(`${url}/api/ready`)).status).toBe(503)
    expect((await fetch(`${url}/api/health`)).status).toBe(200)
  })

  it('[HT1] gives its metrics in the words of Prometheus', async () => {
    const { url } = await startChatServer(script)
    await send(url, 'go')
    const response = await fetch(`${url}/metrics`)
    expect(response.headers.get('content-type')).toContain('text/plain; version=0.0.4')
    const text = await response.text()
    const valueOf = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
    expect(valueOf('holdfast_runs')).toBe(0)
    expect(valueOf('holdfast_turns_total{ending="cut-off"}')).toBe(1)
    expect(valueOf('holdfast_calls_total{state="failed"}')).toBe(1)
    expect(valueOf('holdfast_commits_total')).toBeGreaterThan(2)
    expect(valueOf('holdfast_commit_duration_seconds_count')).toBe(
      valueOf('holdfast_commits_total'),
    )
    for (const line of text.trimEnd().split('\n')) {
      expect(line).toMatch(/^(# TYPE \w+ (gauge|counter|histogram)|\w+(\{\w+="[^"]*"\})? \d\S*)$/)
    }
  })
})
