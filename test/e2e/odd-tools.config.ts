import { tool } from 'ai'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { scriptedModel, type ScriptPart } from 'holdfast/testing'
import { z } from 'zod'
import app from '../../app/holdfast.config.ts'

/** The app's pages, with tools that the demo does not have: many arguments, and files for a result. */

const picture = readFileSync(join(import.meta.dirname, '../../docs/images/chat.png'), 'base64')
const report = Buffer.from(`%PDF-1.4\n${'x'.repeat(20_000)}`).toString('base64')

const payment = (to: string) => ({
  call: 'pay',
  input: {
    to,
    amount: 120.5,
    purpose: 'A purpose that is much longer than a single line of a phone, to its last word.',
    items: ['tea'],
  },
})

const scripts: Readonly<Record<string, readonly ScriptPart[]>> = {
  pay: [payment('ACME')],
  'pay both': [payment('ACME'), payment('Initech')],
  picture: [{ call: 'draw', input: {} }],
  report: [{ call: 'write_report', input: {} }],
}

export default {
  pages: app.pages,
  title: false as const,
  model: scriptedModel(({ prompt }) => {
    const last = prompt.at(-1)
    if (last?.role !== 'user') return [{ text: 'Done.' }]
    const [part] = last.content as readonly { readonly text?: string }[]
    return scripts[part?.text ?? ''] ?? [{ text: 'Yes?' }]
  }),
  tools: {
    pay: tool({
      description: 'Pays.',
      inputSchema: z.object({
        to: z.string(),
        amount: z.number(),
        currency: z.enum(['EUR', 'USD']).optional(),
        purpose: z.string(),
        items: z.array(z.string()),
      }),
      needsApproval: true,
      execute: ({ to, amount, currency, items }) =>
        `${to} ${amount} ${currency} ${items.join('+')}`,
    }),
    draw: tool({
      description: 'Draws.',
      inputSchema: z.object({}),
      execute: () => `data:image/png;base64,${picture}`,
    }),
    write_report: tool({
      description: 'Writes a report.',
      inputSchema: z.object({}),
      execute: () => ({ title: 'Figures', file: `data:application/pdf;base64,${report}` }),
    }),
  },
}
