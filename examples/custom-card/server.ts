// A server with a tool, and a page with a card for it. `node server.ts`

import { tool } from 'ai'
import { createHoldfast } from 'holdfast'
import { createHandler, listen } from 'holdfast/server'
import { sqlite } from 'holdfast/sqlite'
import { demoModel } from 'holdfast/demo'
import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { build } from 'vite'
import { z } from 'zod'

const folder = import.meta.dirname
await build({ root: folder, configFile: join(folder, 'vite.config.ts') })

const holdfast = createHoldfast({
  store: sqlite(process.env['HOLDFAST_DB'] ?? 'chat.db'),
  // Or any model of the AI SDK; this one calls the tools on "weather in Paris" and "write a note about tea".
  model: demoModel(),
  tools: {
    get_weather: tool({
      description: 'The weather in a city.',
      inputSchema: z.object({ city: z.string() }),
      execute: ({ city }) => ({ version: '2', city, temperatureC: 21, condition: 'Sunny' }),
    }),
    write_note: tool({
      description: 'Writes a note.',
      inputSchema: z.object({ title: z.string(), text: z.string() }),
      execute: ({ title }) => ({ title, saved: true }),
    }),
  },
})
const api = createHandler(holdfast)

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
}

const server = await listen(
  async (request) => {
    const { pathname } = new URL(request.url)
    if (pathname.startsWith('/api/')) return api(request)
    const file = pathname.startsWith('/assets/') ? pathname : 'index.html'
    const body = await readFile(join(folder, 'dist', file)).catch(() => null)
    if (body === null) return new Response(null, { status: 404 })
    return new Response(body, { headers: { 'content-type': types[extname(file)] ?? '' } })
  },
  { port: Number(process.env['PORT'] ?? 8787), host: '127.0.0.1' },
)
console.log(`Listening on ${server.url}`)
