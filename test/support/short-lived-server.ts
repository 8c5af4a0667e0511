import { appendFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { tool } from 'ai'
import { createHoldfast } from 'holdfast'
import { createHandler, listen } from 'holdfast/server'
import { sqlite } from 'holdfast/sqlite'
import { scriptedModel } from 'holdfast/testing'
import { z } from 'zod'

/** A server on a platform that kills a process as soon as it has handed its run over. */

const { DB = '', CHARGES = '', RECOVER_SECRET = '' } = process.env
const charges = 16

const holdfast = createHoldfast({
  store: sqlite(DB),
  model: scriptedModel(({ prompt }) => {
    const done = prompt.filter(({ role }) => role === 'tool').length
    return done < charges
      ? [{ text: `Charge ${done}. ` }, { call: 'charge', input: { nth: done } }]
      : [{ text: `All ${charges} are charged.` }]
  }),
  maxSteps: charges + 1,
  tools: {
    charge: tool({
      inputSchema: z.object({ nth: z.number() }),
      async execute({ nth }) {
        appendFileSync(CHARGES, `${nth}\n`)
        await setTimeout(60)
        return 'paid'
      },
    }),
  },
  handOverAfterMs: 100,
  handOverGraceMs: 60_000,
  hooks: ({ type }) => {
    if (type === 'turn-handed-over') process.kill(process.pid, 'SIGKILL')
  },
})
const handler = createHandler(holdfast, { recoverSecret: RECOVER_SECRET })
const { url } = await listen(handler, { port: 0, host: '127.0.0.1' })
process.stdout.write(`${JSON.stringify({ url })}\n`)
