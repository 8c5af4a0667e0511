const warned = new Set<string>()

/**
 * Warns once per process that an old name works only until 1.0. Runtimes without `process.emitWarning` get no warning.
 */
export function warnDeprecated(old: string, instead: string): void {
  if (warned.has(old)) return
  warned.add(old)
  const { process } = globalThis as { readonly process?: { readonly emitWarning?: EmitWarning } }
  process?.emitWarning?.(`${old} is removed in Holdfast 1.0: use ${instead}.`, {
    type: 'DeprecationWarning',
    code: 'HOLDFAST_OLD_NAME',
  })
}

type EmitWarning = (text: string, options: { readonly type: string; readonly code: string }) => void
