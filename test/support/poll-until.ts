import { setTimeout } from 'node:timers/promises'

export interface PollUntilOptions {
  /** What is waited for, as the error says it when it does not come. */
  readonly what: string
  /** @default 30_000 */
  readonly deadlineMs?: number
}

const everyMs = 10

/**
 * Polls another process until its answer fits. Only for state that nobody announces, such as which
 * connections of a database wait for a lock; what happens in this process is waited for by a signal.
 */
export async function pollUntil<Answer>(
  read: () => Promise<Answer>,
  fits: (answer: Answer) => boolean,
  { what, deadlineMs = 30_000 }: PollUntilOptions,
): Promise<Answer> {
  const deadline = performance.now() + deadlineMs
  while (true) {
    const answer = await read()
    if (fits(answer)) return answer
    if (performance.now() > deadline) {
      throw new Error(`Waited ${deadlineMs} ms for ${what}; last: ${JSON.stringify(answer)}`)
    }
    await setTimeout(everyMs)
  }
}
