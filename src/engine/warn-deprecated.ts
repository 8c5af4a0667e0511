const warned = new Set<string>()

/** Once per process: an old name works until 1.0, and whoever still uses it hears so. */
export function warnDeprecated(old: string, instead: string): void {
  if (warned.has(old)) return
  warned.add(old)
  process.emitWarning(`${old} goes with Holdfast 1.0: use ${instead}.`, {
    type: 'DeprecationWarning',
    code: 'HOLDFAST_OLD_NAME',
  })
}
