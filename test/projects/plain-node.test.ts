import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createEmptyProject, type EmptyProject } from './empty-project.ts'

/** Only what the README says to install: no React, no driver, no provider. */
const server = `
import { tool } from 'ai'
import { createHoldfast } from 'holdfast'
import { createHandler, listen } from 'holdfast/server'
import { sqlite } from 'holdfast/sqlite'
import { demoModel } from 'holdfast/demo'
import { z } from 'zod'

const holdfast = createHoldfast({
  store: sqlite('chat.db'),
  model: demoModel({ delayMs: 0 }),
  tools: {
    get_weather: tool({
      description: 'The weather in a city.',
      inputSchema: z.object({ city: z.string() }),
      execute: ({ city }) => ({ city, temperatureC: 21 }),
    }),
  },
})
const { url } = await listen(createHandler(holdfast), { port: 0, host: '127.0.0.1' })
console.log('Listening on ' + url)
`

let project: EmptyProject
beforeAll(() => {
  project = createEmptyProject()
  project.write('package.json', '{ "private": true }\n')
  project.install('ai', 'zod')
})
afterAll(() => project.remove())

describe('plain Node', () => {
  it('[CF4] runs a server in one file', async () => {
    project.write('chat.mjs', server)
    const url = await project.start(['chat.mjs'], /^Listening on (\S+)$/m)
    const message = { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'weather in Paris' }] }
    const answer = await fetch(`${url}/api/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: 'first', messages: [message] }),
    })
    expect(await answer.text()).toContain('"output":{"city":"Paris","temperatureC":21}')
  })

  it('[CF4] loads it with require too', () => {
    project.write(
      'old.cjs',
      `const { createHoldfast } = require('holdfast')\nconsole.log(typeof createHoldfast)\n`,
    )
    expect(project.run('node', ['old.cjs']).output).toMatch(/^function$/m)
  })

  it('[CF4] says what to install where an entry needs more', () => {
    project.write(
      'store.mjs',
      `import { postgres } from 'holdfast/postgres'\npostgres('postgres://x')\n`,
    )
    expect(project.run('node', ['store.mjs']).output).toContain("'pg'")
  })
})
