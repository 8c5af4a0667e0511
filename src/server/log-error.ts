/** The last resort for an error that has no other log. */
export function logToStandardError(error: unknown): void {
  // oxlint-disable-next-line no-console -- the last resort: an error that is not reported anywhere cannot be fixed
  console.error('holdfast:', error)
}

/** In one line, with its causes: the error that a client gets is often not the one that happened. */
export function summarizeError(error: unknown): string {
  if (!(error instanceof Error)) return error === undefined ? '' : describe(error)
  const cause = summarizeError(error.cause)
  return cause === '' ? error.message : `${error.message} (${cause})`
}

const describe = (thrown: unknown): string =>
  typeof thrown === 'string' ? thrown : `a thrown ${typeof thrown}`
