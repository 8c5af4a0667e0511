const longest = 200

/**
 * A name to show to a person: text and never a path, so that saving it cannot write outside the chosen
 * folder. Undefined if nothing is left of it.
 */
export function toFilename(given: string): string | undefined {
  const name = given
    .toWellFormed()
    .normalize('NFC')
    // Direction marks would display `txt.exe` as `exe.txt`.
    .replaceAll(/[\p{Cc}\u2028\u2029\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF]/gu, '')
    .replaceAll(/[/\\:*?"<>|]/g, '_')
    .trim()
    .replace(/^\.+/, (dots) => '_'.repeat(dots.length))
  if (name === '' || /^_+$/.test(name)) return undefined
  if (name.length <= longest) return name
  const end = /\.[^.]{1,16}$/.exec(name)?.[0] ?? ''
  return `${name.slice(0, longest - end.length).toWellFormed()}${end}`
}

/** For `Content-Disposition`: the name in ASCII for older clients, and the name itself, encoded. */
export function toDisposition(kind: 'inline' | 'attachment', filename = 'file'): string {
  const plain = filename.replaceAll(/[^\x20-\x7E]|["\\%;]/g, '_')
  const encoded = encodeURIComponent(filename).replaceAll(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `${kind}; filename="${plain}"; filename*=UTF-8''${encoded}`
}
