/**
 * Adds the fields that are defined. An undefined field stays absent, so that equal events encode to equal
 * bytes.
 */
export function withDefined<Base extends object, Extra extends object>(
  base: Base,
  extra: Extra,
): Base & { [Key in keyof Extra]?: Exclude<Extra[Key], undefined> } {
  let result: Record<string, unknown> | undefined
  for (const key in extra) {
    if (extra[key] === undefined) continue
    result ??= { ...base } as Record<string, unknown>
    result[key] = extra[key]
  }
  // Most often there is nothing to add, so `base` is not copied; the caller never writes to it.
  return (result ?? base) as Base & { [Key in keyof Extra]?: Exclude<Extra[Key], undefined> }
}
