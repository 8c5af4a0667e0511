import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startServer, temporaryFolder } from './run-holdfast.ts'

const start = async (env: Readonly<Record<string, string>> = {}, ...args: readonly string[]) => {
  const folder = temporaryFolder()
  const server = await startServer(['--db', join(folder, 'chat.db'), ...args], { env })
  const sendMessage = async (text: string): Promise<string> => {
    const parts = [{ type: 'text', text }]
    const response = await fetch(`${server.url}/api/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: text, messages: [{ id: 'u', role: 'user', parts }] }),
    })
    return response.text()
  }
  const tools = async (): Promise<readonly string[]> => {
    const response = await fetch(`${server.url}/api/tools`)
    const { results } = (await response.json()) as { results: readonly { name: string }[] }
    return results.map(({ name }) => name)
  }
  const thread = async (id: string): Promise<unknown> => {
    const response = await fetch(`${server.url}/api/threads/${encodeURIComponent(id)}`)
    return response.json()
  }
  return { sendMessage, tools, thread }
}

describe('holdfast serve with the demo model and no config', () => {
  it('has the tools that the model talks about', async () => {
    const { sendMessage, tools } = await start()
    expect(await tools()).toEqual([
      'get_weather',
      'get_time',
      'get_stock',
      'get_afl_code',
      'search_notes',
      'read_note',
      'write_note',
      'delete_note',
      'charge_card',
      'slow_tool',
      'fail_tool',
      'numbered_tool',
    ])
    expect(await sendMessage('weather in Paris')).toMatch(/tool-output-available[\s\S]*°C/)
    expect(await sendMessage('search my notes for milk')).toContain('Your note “Groceries” says')
    expect(await sendMessage('delete note Travel')).toContain('tool-approval-request')
  })

  it('writes a line for each charge into the file that is named', async () => {
    const charges = join(temporaryFolder(), 'charges')
    const { sendMessage } = await start({ HOLDFAST_DEMO_CHARGES: charges })
    expect(await sendMessage('charge card')).toContain('I charged')
    expect(readFileSync(charges, 'utf8').trim().split('\n')).toHaveLength(1)
  })

  it('[FK3] names a thread that nobody named, unless a config says not to', async () => {
    const { sendMessage, thread } = await start()
    const text = 'weather in Paris'
    await sendMessage(text)
    await expect
      .poll(() => thread(text))
      .toMatchObject({ title: 'Weather in Paris', titledBy: 'model' })
    const config = join(
      temporaryFolder({ 'own.mjs': 'export default { title: false }' }),
      'own.mjs',
    )
    const silent = await start({}, '--config', config)
    await silent.sendMessage(text)
    await silent.sendMessage('stock ACME')
    expect(await silent.thread(text)).toMatchObject({ title: text, titledBy: null })
  })

  it('has the tools of a config alone, where that has any', async () => {
    const config = join(temporaryFolder({ 'own.mjs': 'export default { tools: {} }' }), 'own.mjs')
    const { tools } = await start({}, '--config', config)
    expect(await tools()).toEqual([])
  })

  it('gives a model of somebody else’s no demo tools', async () => {
    const env = { HOLDFAST_MODEL: 'openai:gpt', OPENAI_API_KEY: 'none' }
    const { tools } = await start(env)
    expect(await tools()).toEqual([])
  })
})
