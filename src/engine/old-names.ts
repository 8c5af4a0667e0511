const warned = new Set<string>()

/** An option has another name now. Said once in a process, where the platform has a place for it. */
export function warnOnce(old: string, name: string): void {
  if (warned.has(old)) return
  warned.add(old)
  const text = `holdfast: the option "${old}" is now called "${name}"; the old name works until 1.0.`
  const { process } = globalThis as { readonly process?: { emitWarning?: Warn } }
  process?.emitWarning?.(text, 'DeprecationWarning')
}

type Warn = (text: string, type: string) => void
