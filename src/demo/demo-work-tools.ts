import { tool, type ToolSet } from 'ai'
import { z } from 'zod'

export interface WorkToolsOptions {
  /** The fields that each payload begins with. */
  readonly signed: Readonly<Record<string, string>>
  readonly onCharge: (line: string) => Promise<void>
  readonly now: () => number
  readonly wait: (ms: number, signal: AbortSignal | undefined) => Promise<unknown>
}

const chargeMs = 2_000

/** Tools that are slow, fail, or must not be run twice. */
export function createWorkTools({ signed, onCharge, now, wait }: WorkToolsOptions): ToolSet {
  return {
    charge_card: tool({
      description: 'Charges the demo card. No money moves, but a line is written down.',
      inputSchema: z.object({ amount: z.number().positive(), currency: z.string().length(3) }),
      async execute({ amount, currency }, { toolCallId, abortSignal }) {
        const chargedAt = new Date(now()).toISOString()
        // The charge comes first: a process that dies during the wait has charged, and must not charge again.
        await onCharge(JSON.stringify({ callId: toolCallId, amount, currency, chargedAt }))
        await wait(chargeMs, abortSignal)
        return { ...signed, amount, currency, card: 'demo card', status: 'charged', chargedAt }
      },
    }),
    slow_tool: tool({
      description: 'Takes as many seconds as it is told, and says how far it is.',
      inputSchema: z.object({ seconds: z.number().min(0).max(3_600) }),
      async *execute({ seconds }, { abortSignal }) {
        for (let elapsed = 0; elapsed < seconds; elapsed++) {
          const progress = { message: 'Counting the seconds', progress: elapsed, total: seconds }
          yield { ...signed, ...progress, status: 'working', elapsedSeconds: elapsed, seconds }
          await wait(Math.min(1, seconds - elapsed) * 1_000, abortSignal)
        }
        yield { ...signed, status: 'done', seconds }
      },
    }),
    fail_tool: tool({
      description: 'Always fails.',
      inputSchema: z.object({}),
      execute: (): Promise<string> =>
        Promise.reject(new Error('The demo tool failed, as it was asked to.')),
    }),
    numbered_tool: tool({
      description: 'Gives its number back after a moment; for many calls at once.',
      inputSchema: z.object({ number: z.int().positive() }),
      async execute({ number }, { abortSignal }) {
        // Not in the order of the calls, so that results overtake each other.
        await wait((number * 37) % 200, abortSignal)
        return { ...signed, number, square: number * number }
      },
    }),
  }
}
