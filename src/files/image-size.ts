/** Width and height of an image, read from its header alone: nothing is decoded, however large it claims to be. */
export interface ImageSize {
  readonly width: number
  readonly height: number
}

/** Undefined where the bytes do not say, or not among those that are given. */
export function readImageSize(head: Uint8Array, mediaType: string): ImageSize | undefined {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength)
  try {
    switch (mediaType) {
      case 'image/png':
        return { width: view.getUint32(16), height: view.getUint32(20) }
      case 'image/gif':
        return { width: view.getUint16(6, true), height: view.getUint16(8, true) }
      case 'image/bmp':
        return {
          width: Math.abs(view.getInt32(18, true)),
          height: Math.abs(view.getInt32(22, true)),
        }
      case 'image/jpeg':
        return readJpegSize(view)
      case 'image/webp':
        return readWebpSize(view)
      default:
        return undefined
    }
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

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
