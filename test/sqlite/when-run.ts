import { StatementSync } from 'node:sqlite'
import { onTestFinished, vi } from 'vitest'

/**
 * Resolves when this process next runs a statement with this SQL, on whichever connection. SQLite's calls are
 * synchronous: who waits goes on at the end of the slice in which the statement was run.
 */
export function whenRun(sql: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  // oxlint-disable-next-line typescript/unbound-method -- it is called with the statement that it was called on
  const { run } = StatementSync.prototype
  const runs = vi.spyOn(StatementSync.prototype, 'run')
  onTestFinished(() => runs.mockRestore())
  runs.mockImplementation(function (this: StatementSync, ...values: Parameters<typeof run>) {
    if (this.sourceSQL === sql) {
      runs.mockRestore()
      resolve()
    }
    return run.apply(this, values)
  })
  return promise
}
