/** Where a fault goes that nobody gave a place: to whoever reads what the process writes. */
export function logToStandardError(error: unknown): void {
  // oxlint-disable-next-line no-console -- the last resort: a fault that is told to nobody cannot be mended
  console.error('holdfast:', error)
}

/** In one line, with its causes: the error that a client is told of is often not the one that happened. */
export function summarizeError(error: unknown): string {
  if (!(error instanceof Error)) return error === undefined ? '' : describe(error)
  const cause = summarizeError(error.cause)
  return cause === '' ? error.message : `${error.message} (${cause})`
}

const describe = (thrown: unknown): string =>
  typeof thrown === 'string' ? thrown : `a thrown ${typeof thrown}`
