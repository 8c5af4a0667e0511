/**
 * An address that a link may have: `http`, `https`, `mailto`, an anchor on this page or a path on this server.
 * `undefined` for everything else, such as `javascript:` and `//host` (HT5).
 */
export function safeHref(address: string): string | undefined {
  const href = asBrowsersRead(address)
  return /^(?:https?:\/\/|mailto:|#|\/(?![/\\]))/i.test(href) ? href : undefined
}

/**
 * An address that an image may have: this server, or inline. `undefined` for everything else: an image from another
 * host would reveal the reader to that host (HT5).
 */
export function safeImage(address: string): string | undefined {
  const source = asBrowsersRead(address)
  return /^(?:data:image\/(?:png|jpe?g|gif|webp|avif);base64,|blob:|\/(?![/\\]))/i.test(source)
    ? source
    : undefined
}

/** Browsers skip tabs and ends of lines inside an address: with a tab between its slashes, `//host` would pass for a path. */
const asBrowsersRead = (address: string): string =>
  decodeReferences(address)
    .replaceAll(/[\t\n\r]/g, '')
    .trim()

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
