// Hono: the handler is one more route. Runs wherever Hono does, as long as the store does too.

import { tool } from 'ai'
import { createHoldfast } from 'holdfast'
import { createHandler } from 'holdfast/server'
import { sqlite } from 'holdfast/sqlite'
import { demoModel } from 'holdfast/demo'
import { Hono } from 'hono'
import { z } from 'zod'

const holdfast = createHoldfast({
  store: sqlite(process.env['HOLDFAST_DB'] ?? 'chat.db'),
  model: demoModel(), // or any model of the AI SDK
  tools: {
    delete_note: tool({
      description: 'Deletes a note.',
      inputSchema: z.object({ title: z.string() }),
      execute: ({ title }) => ({ title, deleted: true }),
    }),
  },
  policies: { delete_note: { approval: 'always' } },
})
const handler = createHandler(holdfast, {
  // Whoever your own session says it is; null is answered with 401.
  authenticate: (request) => {
    const id = request.headers.get('x-demo-user')
    return id === null ? null : { id }
  },
})

const app = new Hono()
app.get('/', (context) => context.text('The chat is at /api/chat.'))
app.all('/api/*', (context) => handler(context.req.raw))

export default app
