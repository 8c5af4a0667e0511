/** Resolves with the first signal to stop. The second one ends the process at once. */
export function waitForSignal(
  onSecond: (signal: NodeJS.Signals) => never,
): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let isStopping = false
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        if (isStopping) onSecond(signal)
        isStopping = true
        resolve(signal)
      })
    }
  })
}
