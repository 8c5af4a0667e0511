import { appendFileSync } from 'node:fs'
import { tool } from 'ai'
import { type Clock, createHoldfast, systemClock } from 'holdfast'
import { createHandler, listen } from 'holdfast/server'
import { sqlite } from 'holdfast/sqlite'
import { scriptedModel } from 'holdfast/testing'
import { z } from 'zod'

/** A server on a platform that kills a process as soon as it has handed its run over. */

const { DB = '', CHARGES = '', RECOVER_SECRET = '' } = process.env
const charges = 16
const chargesPerProcess = 4

/** The time of this process is over when it has made its charges, however long they took. */
const handOverAfterMs = 100_000
let endTime = () => {}
const clock: Clock = {
  ...systemClock,
  after(ms, call, isBackground) {
    if (ms !== handOverAfterMs) return systemClock.after(ms, call, isBackground)
    endTime = call
    return () => {}
  },
}

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
      execute({ nth }) {
        appendFileSync(CHARGES, `${nth}\n`)
        // While the call is under way, which has to be finished first.
        if (nth % chargesPerProcess === chargesPerProcess - 1) endTime()
        return 'paid'
      },
    }),
  },
  handOverAfterMs,
  clock,
  handOverGraceMs: 60_000,
  hooks: ({ type }) => {
    if (type === 'turn-handed-over') process.kill(process.pid, 'SIGKILL')
  },
})
const handler = createHandler(holdfast, { recoverSecret: RECOVER_SECRET })
const { url } = await listen(handler, { port: 0, host: '127.0.0.1' })
process.stdout.write(`${JSON.stringify({ url })}\n`)
