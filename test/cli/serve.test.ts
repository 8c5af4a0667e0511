import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { chatWire } from '../providers/chat-wire.ts'
import { databases } from './databases.ts'
import { runHoldfast, type Server, startServer, temporaryFolder } from './run-holdfast.ts'

const slowTool = join(import.meta.dirname, 'fixtures/slow-tool.config.ts')
const newFile = () => join(temporaryFolder(), 'chat.db')

const sendMessage = ({ url }: Server, thread: string, text: string) =>
  fetch(`${url}/api/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      id: thread,
      trigger: 'submit-message',
      messages: [{ id: `${thread}-1`, role: 'user', parts: [{ type: 'text', text }] }],
    }),
  })

const refuse = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runHoldfast(['serve', '--port', '0', ...args], { env, folder: temporaryFolder() })

describe('holdfast serve', () => {
  it('answers, and logs a line per request and per turn without what was said', async () => {
    const db = newFile()
    const server = await startServer(['--db', db])
    const health = await fetch(`${server.url}/api/health`)
    expect(await health.json()).toMatchObject({ status: 'ok', store: 'sqlite' })
    expect(await (await sendMessage(server, 'first', 'a secret question')).text()).toContain(
      '[DONE]',
    )
    const turn = await server.until((line) => line.includes('"log":"turn"'))
    expect(JSON.parse(turn)).toMatchObject({ threadId: 'first', ending: 'completed' })
    const request = await server.until((line) => line.includes('/api/chat'))
    expect(JSON.parse(request)).toMatchObject({ log: 'request', method: 'POST', status: 200 })
    expect(server.log.join('\n')).not.toContain('secret')

    server.process.kill('SIGTERM')
    expect(await server.exited).toBe(0)
    const exported = await runHoldfast(['export', 'first', '--db', db])
    expect(exported.out).toContain('a secret question')
    expect((await runHoldfast(['check', '--db', db])).out).toMatch(/^Healthy/)
  })

  it('serves the PostgreSQL that HOLDFAST_DB names, on the port that PORT names', async () => {
    const { place } = await databases.postgres()
    const server = await startServer(['--log', 'off'], { env: { HOLDFAST_DB: place } })
    const health = await fetch(`${server.url}/api/health`)
    expect(await health.json()).toMatchObject({ store: 'postgres' })
    const { port } = new URL(server.url)
    const taken = await runHoldfast(['serve', '--db', place], { env: { PORT: port } })
    expect(taken.code).toBe(2)
    expect(taken.err).toContain(`Port ${port} is in use. Choose another with --port`)
    server.process.kill('SIGINT')
    expect(await server.exited).toBe(0)
    expect(server.log).toEqual([])
  })

  it('[HT4] refuses to listen beyond this machine without a token', async () => {
    const { code, err, out } = await refuse(['--host', '0.0.0.0'])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(
      'To listen on 0.0.0.0, which other machines can reach, set HOLDFAST_TOKEN',
    )
  })

  it('[HT4] asks every caller for the token, where there is one', async () => {
    const env = { HOLDFAST_TOKEN: 'open sesame', HOST: '0.0.0.0' }
    const server = await startServer(['--db', newFile()], { env })
    const { port } = new URL(server.url)
    const list = async (headers: Readonly<Record<string, string>>) =>
      (await fetch(`http://127.0.0.1:${port}/api/threads`, { headers })).status
    expect(await list({})).toBe(401)
    expect(await list({ authorization: 'Bearer open' })).toBe(401)
    expect(await list({ authorization: 'Bearer open sesame' })).toBe(200)
  })

  it('takes model, tools and pages from a config file', async () => {
    const server = await startServer(['--config', slowTool, '--db', newFile()])
    expect(await (await fetch(server.url)).text()).toBe('the pages of the app')
    const tools: unknown = await (await fetch(`${server.url}/api/tools`)).json()
    expect(tools).toMatchObject({ results: [{ name: 'wait', description: 'Waits for the test.' }] })
  })

  it('calls the hooks of a config file with what happens, beside its own log', async () => {
    const server = await startServer(['--config', slowTool, '--db', newFile()])
    const answer = await sendMessage(server, 'first', 'wait for it')
    await server.until((line) => line === 'the tool has started')
    server.process.stdin?.write('go on\n')
    await answer.text()
    await server.until((line) => line === 'the hook heard: completed')
    const turn = await server.until((line) => line.includes('"log":"turn"'))
    expect(JSON.parse(turn)).toMatchObject({ threadId: 'first', ending: 'completed' })
  })

  it('[OP11] stopped, lets a turn under way finish, shows it to its end and begins no other', async () => {
    const db = newFile()
    const server = await startServer(['--config', slowTool, '--db', db, '--grace', '60'])
    const answer = await sendMessage(server, 'first', 'wait for it')
    await server.until((line) => line === 'the tool has started')
    server.process.kill('SIGTERM')
    const refused = async (): Promise<number> => {
      const { status } = await sendMessage(server, 'second', 'me too')
      return status === 503 ? status : refused()
    }
    expect(await refused()).toBe(503)
    expect((await fetch(`${server.url}/api/ready`)).status).toBe(503)
    server.process.stdin?.write('go on\n')
    expect(await answer.text()).toMatch(/All done\.[\s\S]*\[DONE\]/)
    expect(await server.exited).toBe(0)
    expect((await runHoldfast(['check', '--db', db])).out).toMatch(/^Healthy/)
  })

  it('[CR5] hands over what did not finish in time, and the next server carries it on', async () => {
    const db = newFile()
    const first = await startServer(['--config', slowTool, '--db', db, '--grace', '0'])
    await sendMessage(first, 'first', 'wait for it')
    await first.until((line) => line === 'the tool has started')
    first.process.kill('SIGTERM')
    expect(await first.exited).toBe(0)
    const next = await startServer(['--config', slowTool, '--db', db])
    // Nobody knows what the call did, and it is not said to be safe to repeat.
    const turn = await next.until((line) => line.includes('"log":"turn"'))
    expect(JSON.parse(turn)).toMatchObject({ threadId: 'first', waitingFor: 'resolution' })
  })

  it('[CR6] does not wait after a second signal; what that left open is found and closed', async () => {
    const db = newFile()
    const first = await startServer(['--config', slowTool, '--db', db, '--grace', '3600'])
    await sendMessage(first, 'first', 'wait for it')
    await first.until((line) => line === 'the tool has started')
    first.process.kill('SIGTERM')
    first.process.kill('SIGINT')
    expect([130, 143]).toContain(await first.exited)

    const stuck = await runHoldfast(['check', '--db', db])
    expect(stuck.out).toContain('damaged stuck-turn: thread first')
    const mended = await runHoldfast(['check', '--repair', '--db', db])
    expect(mended).toMatchObject({ code: 0 })
    expect(mended.out).toContain('The process that ran it is dead.')
  })

  it('talks to the model that HOLDFAST_MODEL names', async () => {
    const paths: string[] = []
    const provider = createServer((request, response) => {
      paths.push(`${request.method} ${request.url}`)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(chatWire.frames([{ text: ['Hello ', 'from afar'] }], 'stop').join(''))
    })
    await new Promise<void>((resolve) => {
      provider.listen(0, '127.0.0.1', resolve)
    })
    onTestFinished(() => {
      provider.closeAllConnections()
      provider.close()
    })
    const { port } = provider.address() as AddressInfo
    const env = {
      HOLDFAST_MODEL: 'openai-compatible:some-model',
      HOLDFAST_MODEL_URL: `http://127.0.0.1:${port}/v1`,
    }
    const server = await startServer(['--db', newFile()], { env })
    expect(await (await sendMessage(server, 'first', 'hi')).text()).toContain('from afar')
    expect(paths).toEqual(['GET /v1/models', 'POST /v1/chat/completions'])
  })

  it('says that nothing answers at HOLDFAST_MODEL_URL, and starts all the same', async () => {
    const env = {
      HOLDFAST_MODEL: 'openai-compatible:some-model',
      HOLDFAST_MODEL_URL: 'http://127.0.0.1:1',
    }
    const server = await startServer(['--db', newFile()], { env })
    expect(server.log[0]).toBe(
      `holdfast: Nothing answers at http://127.0.0.1:1. Start the model's server, or correct HOLDFAST_MODEL_URL.`,
    )
  })

  it.each([
    [{ HOLDFAST_MODEL: 'openai:gpt' }, 'The model needs a key. Set OPENAI_API_KEY.'],
    [{ HOLDFAST_MODEL: 'anthropic:claude' }, 'The model needs a key. Set ANTHROPIC_API_KEY.'],
    [{ HOLDFAST_MODEL: 'openai-compatible:x' }, 'Set HOLDFAST_MODEL_URL'],
    [{ HOLDFAST_MODEL: 'parrot' }, 'HOLDFAST_MODEL is demo, openai:MODEL'],
    [{ PORT: 'http' }, 'PORT is a whole number from 0 to 65535, not "http".'],
  ])('says in one sentence what is missing: %j', async (env, why) => {
    const { code, err } = await runHoldfast(['serve'], { env, folder: temporaryFolder() })
    expect(code).toBe(2)
    expect(err).toContain(why)
    expect(err.trim().split('\n')).toHaveLength(1)
  })

  it('says what is wrong with a config file', async () => {
    const missing = await refuse(['--config', 'none.ts'])
    expect(missing).toMatchObject({
      code: 2,
      err: 'holdfast: There is no file none.ts. Check --config.\n',
    })
    const folder = temporaryFolder({ 'empty.mjs': 'export const tools = {}' })
    const empty = await refuse(['--config', join(folder, 'empty.mjs')])
    expect(empty.err).toContain('has no default export')
  })

  it.each([
    ['{ pagess: () => null }', 'has no option "pagess". Did you mean "pages"?'],
    ['{ maxSteps: 0 }', 'the option "maxSteps" must be a whole number from 1 to 10,000, not 0.'],
    ['{ authenticate: "me" }', 'the option "authenticate" must be a function, not "me".'],
    ['{ allowedOrigins: ["*"] }', 'the option "allowedOrigins" must be a list of origins'],
    ['{ limits: { runs: 1 } }', 'createHandler, limits has no option "runs".'],
    ['[]', 'takes an object of options'],
  ])('[CF1] says what is wrong with a config of %s', async (config, why) => {
    const folder = temporaryFolder({ 'own.mjs': `export default ${config}` })
    const { code, err } = await refuse(['--config', join(folder, 'own.mjs')])
    expect(code).toBe(2)
    expect(err).toContain(why)
    expect(err.trim().split('\n')).toHaveLength(1)
  })

  it('[HT1] logs what the pages of a config throw, and answers 500', async () => {
    const config = 'export default { pages() { throw new Error("no template") } }'
    const folder = temporaryFolder({ 'own.mjs': config })
    const server = await startServer(['--config', join(folder, 'own.mjs'), '--db', newFile()])
    const response = await fetch(server.url)
    expect(response.status).toBe(500)
    expect(await response.json()).toMatchObject({ error: { code: 'internal' } })
    const line = await server.until((text) => text.includes('"log":"fault"'))
    expect(JSON.parse(line)).toMatchObject({ error: 'no template' })
    expect((await fetch(`${server.url}/api/health`)).status).toBe(200)
  })
})
