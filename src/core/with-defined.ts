/** Adds the fields that are there. An absent field stays absent, so that equal events give equal bytes. */
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
  // Most often nothing is there to add, and nothing is ever written to what was given.
  return (result ?? base) as Base & { [Key in keyof Extra]?: Exclude<Extra[Key], undefined> }
}
