import type { Hooks } from './hooks.ts'

/**
 * Writes each failure of a tool, a policy, a model, an agent or a file store to the standard error, with the id that clients are given.
 * These are the hooks where the host passes none. Hooks of your own replace them: `combineHooks(logFailures, yours)` keeps
 * both.
 */
export const logFailures: Hooks = (event) => {
  if (event.type !== 'failed') return
  const { source, name, errorId, threadId, message } = event
  const what = [source, name].filter((word) => word !== undefined).join(' ')
  // oxlint-disable-next-line no-console -- the last resort: an error that is not reported anywhere cannot be fixed
  console.error(`holdfast: ${what} failed (error ${errorId}, thread ${threadId}): ${message}`)
}
