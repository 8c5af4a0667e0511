/**
 * The type of a file, by its first bytes. The declared type is used only among kinds of plain text, which
 * bytes cannot distinguish: a page that is declared as an image must not be shown as one, nor an image run as
 * a page (FL1).
 */
export function sniffType(head: Uint8Array, declared: string): string {
  for (const { type, bytes, isBinary = false } of signatures) {
    if (startsWith(head, bytes) && !(isBinary && isText(head))) return type
  }
  const boxed = sniffBoxed(head)
  if (boxed !== undefined) return boxed
  if (startsWith(head, [0x52, 0x49, 0x46, 0x46])) return sniffRiff(head)
  if (!isText(head)) return isOpaque(declared) ? declared : 'application/octet-stream'
  return sniffText(head, declared)
}

interface Signature {
  readonly type: string
  readonly bytes: readonly number[]
  /** The signature is two letters that a text may begin with, too: “BMW …” is no picture. */
  readonly isBinary?: boolean
}

const ascii = (text: string): readonly number[] => Array.from(text, (char) => char.charCodeAt(0))

const signatures: readonly Signature[] = [
  { type: 'image/png', bytes: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] },
  { type: 'image/jpeg', bytes: [0xff, 0xd8, 0xff] },
  { type: 'image/gif', bytes: ascii('GIF8') },
  { type: 'image/bmp', bytes: ascii('BM'), isBinary: true },
  { type: 'image/tiff', bytes: [0x49, 0x49, 0x2a, 0x00] },
  { type: 'image/tiff', bytes: [0x4d, 0x4d, 0x00, 0x2a] },
  { type: 'image/x-icon', bytes: [0x00, 0x00, 0x01, 0x00] },
  { type: 'application/pdf', bytes: ascii('%PDF-') },
  { type: 'audio/mpeg', bytes: ascii('ID3') },
  { type: 'audio/mpeg', bytes: [0xff, 0xfb] },
  { type: 'audio/flac', bytes: ascii('fLaC') },
  { type: 'audio/ogg', bytes: ascii('OggS') },
  { type: 'video/webm', bytes: [0x1a, 0x45, 0xdf, 0xa3] },
  { type: 'application/gzip', bytes: [0x1f, 0x8b] },
  { type: 'application/x-msdownload', bytes: ascii('MZ'), isBinary: true },
  { type: 'application/x-executable', bytes: [0x7f, 0x45, 0x4c, 0x46] },
  { type: 'application/wasm', bytes: [0x00, 0x61, 0x73, 0x6d] },
]

const startsWith = (head: Uint8Array, bytes: readonly number[], at = 0): boolean =>
  head.length >= at + bytes.length && bytes.every((byte, index) => head[at + index] === byte)

/** Office documents are zip files. Their declared type is accepted, because none of them can be shown or run. */
const zipped = /^application\/(?:vnd\.openxmlformats-|vnd\.oasis\.opendocument\.|epub\+zip$)/

function sniffBoxed(head: Uint8Array): string | undefined {
  if (startsWith(head, [0x50, 0x4b, 0x03, 0x04])) return 'application/zip'
  if (!startsWith(head, ascii('ftyp'), 4)) return undefined
  const brand = String.fromCharCode(...head.subarray(8, 12))
  if (brand === 'avif' || brand === 'avis') return 'image/avif'
  if (/^(?:heic|heix|heif|mif1|msf1)$/.test(brand)) return 'image/heic'
  return brand.startsWith('M4A') ? 'audio/mp4' : 'video/mp4'
}

function sniffRiff(head: Uint8Array): string {
  if (startsWith(head, ascii('WEBP'), 8)) return 'image/webp'
  return startsWith(head, ascii('WAVE'), 8) ? 'audio/wav' : 'application/octet-stream'
}

const isOpaque = (declared: string): boolean => zipped.test(declared)

/** Bytes that are valid UTF-8 and hold no control characters but white space. The end may cut a character in two. */
function isText(head: Uint8Array): boolean {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true })
    // oxlint-disable-next-line no-control-regex -- what tells bytes from text
    return !/[\u0000-\u0008\u000E-\u001A\u001C-\u001F]/.test(text)
  } catch {
    return false
  }
}

const markup = /^<(?:!--|!doctype\s+html|html|head|body|script|iframe|svg|\?xml|[a-z][\w-]*[\s>/])/i

/**
 * What follows white space and comments. Not a pattern: one that skips any number of comments backtracks
 * exponentially, and three hundred bytes of them would block the process for hours. An unclosed comment is
 * kept: what follows it is unknown.
 */
function skipComments(text: string): string {
  let rest = text.trimStart()
  while (rest.startsWith('<!--')) {
    const end = rest.indexOf('-->', 4)
    if (end === -1) return rest
    rest = rest.slice(end + 3).trimStart()
  }
  return rest
}

function sniffText(head: Uint8Array, declared: string): string {
  const text = skipComments(new TextDecoder().decode(head))
  if (/<svg[\s>]/i.test(text) && markup.test(text)) return 'image/svg+xml'
  if (markup.test(text)) return /^<\?xml/i.test(text) ? 'application/xml' : 'text/html'
  return /^(?:text\/(?!html)[\w.+-]+|application\/(?:json|x-ndjson|yaml|toml))$/.test(declared)
    ? declared
    : 'text/plain'
}

/** The declared type where it is more specific than the bytes: a zip file that is a document. */
export const refineType = (sniffed: string, declared: string): string =>
  sniffed === 'application/zip' && zipped.test(declared) ? declared : sniffed

/** Images that browsers draw and that cannot run scripts: only these are shown in a page. */
export const isShownInline = (mediaType: string): boolean =>
  /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/.test(mediaType)

// Whether a list contains a type: by name, by its kind (`image/*`), or as everything (`*/*`).
export const isAccepted = (mediaType: string, accept: readonly string[]): boolean =>
  accept.some((pattern) =>
    pattern === '*/*' || pattern === mediaType
      ? true
      : pattern.endsWith('/*') && mediaType.startsWith(pattern.slice(0, -1)),
  )
