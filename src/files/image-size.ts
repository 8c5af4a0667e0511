/** Width and height of an image, read from its header alone: nothing is decoded, however large it claims to be. */
export interface ImageSize {
  readonly width: number
  readonly height: number
}

/** Undefined where the given bytes do not contain the size. */
export function readImageSize(head: Uint8Array, mediaType: string): ImageSize | undefined {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength)
  try {
    const size = readers[mediaType]?.(view)
    return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

const readers: Readonly<Record<string, (view: DataView) => ImageSize | undefined>> = {
  'image/png': (view) => ({ width: view.getUint32(16), height: view.getUint32(20) }),
  'image/gif': readGifSize,
  'image/bmp': (view) => ({
    width: Math.abs(view.getInt32(18, true)),
    height: Math.abs(view.getInt32(22, true)),
  }),
  'image/jpeg': readJpegSize,
  'image/webp': readWebpSize,
  'image/avif': readBoxedSize,
}

/** A browser uses the size of the first frame where it is larger than the file's screen size. */
function readGifSize(view: DataView): ImageSize {
  const flags = view.getUint8(10)
  let at = 13 + (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0)
  while (view.getUint8(at) === 0x21) {
    at += 2
    while (view.getUint8(at) !== 0) at += 1 + view.getUint8(at)
    at++
  }
  const uint16 = (offset: number) => view.getUint16(offset, true)
  const isFrame = view.getUint8(at) === 0x2c
  return {
    width: Math.max(uint16(6), isFrame ? uint16(at + 1) + uint16(at + 5) : 0),
    height: Math.max(uint16(8), isFrame ? uint16(at + 3) + uint16(at + 7) : 0),
  }
}

/** The largest of all sizes in the `meta` box, which must be complete: tiles, previews and the picture itself. */
function readBoxedSize(view: DataView): ImageSize | undefined {
  const tagAt = (at: number) => view.getUint32(at)
  let at = 0
  while (tagAt(at + 4) !== metaTag) {
    if (view.getUint32(at) < 8) return undefined
    at += view.getUint32(at)
  }
  const end = at + view.getUint32(at)
  // Throws where the box continues beyond the bytes that were read.
  view.getUint8(end - 1)
  let largest: ImageSize | undefined
  for (let offset = at + 8; offset + 16 <= end; offset++) {
    if (tagAt(offset) !== sizeTag) continue
    const size = { width: view.getUint32(offset + 8), height: view.getUint32(offset + 12) }
    const isLarger = size.width * size.height > (largest?.width ?? 0) * (largest?.height ?? 0)
    if (isLarger) largest = size
  }
  return largest
}

/** `meta` and `ispe`. */
const metaTag = 0x6d657461
const sizeTag = 0x69737065

/** Walks the segments to the one that begins a frame. */
function readJpegSize(view: DataView): ImageSize | undefined {
  for (let at = 2; ;) {
    if (view.getUint8(at) !== 0xff) return undefined
    const marker = view.getUint8(at + 1)
    if (marker === 0xff) {
      at++
      continue
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) return { height: view.getUint16(at + 5), width: view.getUint16(at + 7) }
    at += 2 + view.getUint16(at + 2)
  }
}

function readWebpSize(view: DataView): ImageSize | undefined {
  const kind = String.fromCharCode(...[12, 13, 14, 15].map((at) => view.getUint8(at)))
  const three = (at: number) => view.getUint16(at, true) | (view.getUint8(at + 2) << 16)
  if (kind === 'VP8X') return { width: three(24) + 1, height: three(27) + 1 }
  if (kind === 'VP8 ') {
    return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff }
  }
  if (kind !== 'VP8L') return undefined
  const bits = view.getUint32(21, true)
  return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 }
}
