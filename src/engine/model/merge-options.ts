type Options = Readonly<Record<string, unknown>>

const isPlain = (value: unknown): value is Options =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Values of the second win, object by object: a step that sets one option of a provider keeps the provider's other
 * options.
 */
export function mergeOptions<Kind extends Options>(
  base: Kind | undefined,
  over: Kind | undefined,
): Kind | undefined {
  if (base === undefined || over === undefined) return over ?? base
  const changes = Object.entries(over)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => {
      const known = Object.hasOwn(base, name) ? base[name] : undefined
      return [name, isPlain(known) && isPlain(value) ? mergeOptions(known, value) : value] as const
    })
  // Built from entries, not by assignment: `__proto__` as a key is data.
  return Object.fromEntries([...Object.entries(base), ...changes]) as Kind
}
