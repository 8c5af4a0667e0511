import { tool } from 'ai'
import { callsOf, type Turn } from 'holdfast'
import { z } from 'zod'

export const add = tool({
  description: 'Adds two numbers.',
  inputSchema: z.object({ left: z.number(), right: z.number() }),
  execute: ({ left, right }) => ({ sum: left + right }),
})

/** Good without arguments too. */
export const bare = tool({
  inputSchema: z.object({ left: z.number().optional() }),
  execute: () => 'done',
})

export const textOf = (turn: Turn): readonly string[] =>
  turn.steps
    .flatMap((step) => step.parts)
    .flatMap((part) => (part.type === 'text' ? part.text : []))

export const endingOf = (turn: Turn) =>
  turn.progress.status === 'ended' ? turn.progress.ending : turn.progress

/** State and cause of each call. */
export const outcomesOf = (turn: Turn): readonly string[] =>
  [...callsOf(turn)].map((call) => ('cause' in call ? `${call.state}: ${call.cause}` : call.state))
