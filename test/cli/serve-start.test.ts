import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runHoldfast, startServer, temporaryFolder } from './run-holdfast.ts'

const newFile = () => join(temporaryFolder(), 'chat.db')

/** Node, with some packages taken away. */
const without = (...names: readonly string[]): Readonly<Record<string, string>> => {
  const code = `
    import { registerHooks } from 'node:module'
    const gone = ${JSON.stringify(names)}
    registerHooks({
      resolve(specifier, context, next) {
        if (gone.includes(specifier)) throw new Error('Cannot find package ' + specifier)
        return next(specifier, context)
      },
    })`
  return { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(code)}` }
}

describe('holdfast serve, at its start', () => {
  it.each([
    ['@ai-sdk/openai', { HOLDFAST_MODEL: 'openai:gpt', OPENAI_API_KEY: 'x' }],
    ['@ai-sdk/anthropic', { HOLDFAST_MODEL: 'anthropic:claude', ANTHROPIC_API_KEY: 'x' }],
    [
      '@ai-sdk/openai-compatible',
      { HOLDFAST_MODEL: 'openai-compatible:llama', HOLDFAST_MODEL_URL: 'http://127.0.0.1:1/v1' },
    ],
  ])('says which package is missing: %s', async (name, env) => {
    const { code, out, err } = await runHoldfast(['serve', '--port', '0', '--db', newFile()], {
      env: { ...env, ...without(name) },
    })
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toBe(
      `holdfast: The provider ${name} is not installed. Run \`npm install ${name}\`.\n`,
    )
  })

  it('says that the driver for PostgreSQL is missing', async () => {
    const { code, err } = await runHoldfast(['check', '--db', 'postgres://localhost/x'], {
      env: without('pg'),
    })
    expect(code).toBe(2)
    expect(err).toBe(
      'holdfast: For PostgreSQL the driver is needed as well. Run `npm install pg`.\n',
    )
  })

  it('is not ready where PostgreSQL cannot be reached', async () => {
    const { code, out, err } = await runHoldfast([
      'serve',
      '--port',
      '0',
      '--db',
      'postgres://127.0.0.1:1/x',
    ])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toBe(
      'holdfast: PostgreSQL cannot be reached at its URL. The cause: connect ECONNREFUSED 127.0.0.1:1. Check the address in --db or HOLDFAST_DB, and that the server runs.\n',
    )
  })

  it.each([
    ['.', '. is a folder. Name a file with --db or HOLDFAST_DB.'],
    ['none/chat.db', 'There is no folder none. Make it, or choose another with --db.'],
  ])('says what is wrong with the file %s', async (db, why) => {
    const folder = temporaryFolder()
    const { code, err } = await runHoldfast(['serve', '--port', '0', '--db', db], { folder })
    expect({ code, err }).toEqual({ code: 2, err: `holdfast: ${why}\n` })
  })

  it.each(['serve', 'check'])('%s passes over no word that it does not know', async (command) => {
    const folder = temporaryFolder({ 'holdfast.db': '' })
    const { code, err } = await runHoldfast([command, 'chat.db'], { folder })
    expect(code).toBe(2)
    expect(err).toContain(`has no use for "chat.db". Pass the database with --db.`)
  })

  // On Windows a browser is opened by the shell, which nothing can stand in for.
  it.skipIf(process.platform === 'win32')('--open hands its address to a browser', async () => {
    // Stands for the browser: what it was given is seen in the server's own log.
    const browser = '#!/usr/bin/env node\nvoid fetch(process.argv[2], { method: "DELETE" })\n'
    const folder = temporaryFolder({ 'xdg-open': browser, open: browser })
    for (const name of ['xdg-open', 'open']) chmodSync(join(folder, name), 0o755)
    const env = { PATH: `${folder}:${process.env['PATH']}` }
    const server = await startServer(['--db', newFile(), '--open', '--log', 'json'], { env })
    const line = await server.until((said) => said.includes('DELETE'))
    expect(JSON.parse(line)).toMatchObject({ method: 'DELETE', status: 404 })
  })

  it('--open on a machine without a browser changes nothing', async () => {
    const server = await startServer(['--db', newFile(), '--open'], {
      env: { PATH: temporaryFolder() },
    })
    expect((await fetch(`${server.url}/api/health`)).status).toBe(200)
  })
})
