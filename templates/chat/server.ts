// The whole server: the engine of the chat, its routes under /api, and the page.

import { createHoldfast } from 'holdfast'
import { modelFromEnvironment } from 'holdfast/cli'
import { createHandler, listen } from 'holdfast/server'
import { sqlite } from 'holdfast/sqlite' // for many servers: postgres from 'holdfast/postgres'
import { existsSync } from 'node:fs'
import { readPage } from './pages.ts'
import { policies, tools } from './tools.ts'

if (existsSync('.env')) process.loadEnvFile('.env')
const isDevelopment = process.argv.includes('--dev')

try {
  const store = sqlite(process.env['HOLDFAST_DB'] || 'chat.db')
  const holdfast = createHoldfast({
    store,
    model: await modelFromEnvironment(), // HOLDFAST_MODEL, and the demo model without it; or any model of the AI SDK
    instructions: 'You are a friendly assistant. Be brief.',
    tools,
    policies,
  })
  // Only this machine is served until `authenticate` says who is asking: createHandler(holdfast, { authenticate }).
  const api = createHandler(holdfast)
  const server = await listen(async (request) => (await readPage(request)) ?? api(request), {
    port: Number(process.env['PORT'] || 8787),
    host: '127.0.0.1',
  })

  if (isDevelopment) {
    // The page comes from its sources, and shows a change at once; what is under /api is passed on to the server above, with the
    // host that the browser asked for: by it the server knows its own page.
    const { createServer } = await import('vite')
    const proxy = { '/api': { target: server.url, changeOrigin: false } }
    const vite = await createServer({ root: 'web', server: { proxy } })
    await vite.listen()
    console.log(`The chat is at ${vite.resolvedUrls?.local[0] ?? 'the address of Vite'}`)
  } else {
    console.log(`The chat is at ${server.url}`)
  }

  const stop = async () => {
    // An answer that is being written is carried on by the next start.
    await holdfast.close()
    await server.close()
    await store.close()
    process.exit(0)
  }
  process.once('SIGINT', () => void stop())
  process.once('SIGTERM', () => void stop())
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}
