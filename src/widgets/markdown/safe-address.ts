/**
 * An address that a link may lead to: `http`, `https`, `mailto`, a place on this page or on this server.
 * `undefined` for everything else, such as `javascript:` and `//host` (HT5).
 */
export function safeHref(address: string): string | undefined {
  const href = decodeReferences(address).trim()
  return /^(?:https?:\/\/|mailto:|#|\/(?![/\\]))/i.test(href) ? href : undefined
}

/**
 * An address that a picture may be drawn from: this server, or inline. `undefined` for everything else: a
 * picture from another host would tell that host who reads this (HT5).
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

/** `&lt;` and its like as the characters they stand for; one that is not known stays as written. */
export function decodeReferences(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}));/gi, (all, dec, hex, name) => {
    if (typeof name === 'string') return named[name] ?? all
    const code = typeof dec === 'string' ? Number(dec) : Number.parseInt(String(hex), 16)
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : all
  })
}
