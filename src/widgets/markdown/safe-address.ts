/**
 * An address that a link may have: `http`, `https`, `mailto`, an anchor on this page or a path on this server.
 * `undefined` for everything else, such as `javascript:` and `//host` (HT5).
 */
export function safeHref(address: string): string | undefined {
  const href = decodeReferences(address).trim()
  return /^(?:https?:\/\/|mailto:|#|\/(?![/\\]))/i.test(href) ? href : undefined
}

/**
 * An address that an image may have: this server, or inline. `undefined` for everything else: an image from another
 * host would reveal the reader to that host (HT5).
 */
export function safeImage(address: string): string | undefined {
  const source = decodeReferences(address).trim()
  return /^(?:data:image\/(?:png|jpe?g|gif|webp|avif);base64,|blob:|\/(?![/\\]))/i.test(source)
    ? source
    : undefined
}

const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  copy: '©',
  reg: '®',
  hellip: '…',
  mdash: '—',
  ndash: '–',
  times: '×',
  deg: '°',
  euro: '€',
  rarr: '→',
  larr: '←',
}

/** Decodes character references such as `&lt;`; an unknown one stays unchanged. */
export function decodeReferences(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}));/gi, (all, dec, hex, name) => {
    if (typeof name === 'string') return named[name] ?? all
    const code = typeof dec === 'string' ? Number(dec) : Number.parseInt(String(hex), 16)
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : all
  })
}
