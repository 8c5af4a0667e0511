/** Where a fault goes that nobody gave a place: to whoever reads what the process writes. */
export function logToStandardError(error: unknown): void {
  // oxlint-disable-next-line no-console -- the last resort: a fault that is told to nobody cannot be mended
  console.error('holdfast:', error)
}
