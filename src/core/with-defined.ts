/** Adds the fields that are there. An absent field stays absent, so that equal facts give equal bytes. */
export function withDefined<Base extends object, Extra extends object>(
  base: Base,
  extra: Extra,
): Base & { [Key in keyof Extra]?: Exclude<Extra[Key], undefined> } {
  const present = Object.entries(extra).filter(([, value]) => value !== undefined)
  return { ...base, ...Object.fromEntries(present) }
}
