/** Adds the fields that are there. An absent field stays absent, so that equal facts give equal bytes. */
export function withDefined<Base extends object, Extra extends object>(
  base: Base,
  extra: Extra,
): Base & { [Key in keyof Extra]?: Exclude<Extra[Key], undefined> } {
  const result = { ...base } as Record<string, unknown>
  for (const key in extra) if (extra[key] !== undefined) result[key] = extra[key]
  return result as Base & { [Key in keyof Extra]?: Exclude<Extra[Key], undefined> }
}
