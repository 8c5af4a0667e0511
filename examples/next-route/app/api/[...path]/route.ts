// Next.js: app/api/[...path]/route.ts. Everything under /api is Holdfast's; pages use `useChat` as always.

import { tool } from 'ai'
import { createHoldfast, type Holdfast } from 'holdfast'
import { createHandler } from 'holdfast/server'
import { sqlite } from 'holdfast/sqlite'
import { demoModel } from 'holdfast/demo'
import { z } from 'zod'

export const runtime = 'nodejs'
export const dynamic = 'force-dynamic'

const create = (): Holdfast =>
  createHoldfast({
    store: sqlite(process.env['HOLDFAST_DB'] ?? 'chat.db'),
    model: demoModel(), // or any model of the AI SDK: openai('…'), anthropic('…')
    tools: {
      get_weather: tool({
        description: 'The weather in a city.',
        inputSchema: z.object({ city: z.string() }),
        execute: ({ city }) => ({ city, temperatureC: 21, condition: 'Sunny' }),
      }),
    },
    policies: { get_weather: { repeatable: true } },
  })

// In development Next.js loads this file again after each edit; runs under way stay with one engine.
const kept = globalThis as { holdfast?: Holdfast }
kept.holdfast ??= create()

const handler = createHandler(kept.holdfast, {
  // Whoever your own session says it is; null is answered with 401.
  authenticate: (request) => {
    const id = request.headers.get('x-demo-user')
    return id === null ? null : { id }
  },
})

export { handler as DELETE, handler as GET, handler as OPTIONS, handler as PATCH, handler as POST }
