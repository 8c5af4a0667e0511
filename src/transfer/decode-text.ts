/**
 * Stands for bytes that are not UTF-8. No JSON has it in a string, so that only the message or line around them cannot be
 * read: with the usual replacement it would be stored with other letters than were meant.
 */
export const notUtf8 = '\u0000'

export const whyNotUtf8 = 'It is not UTF-8.'

const replacement = '\ufffd'
/** A replacement that is in the text itself. */
const encoded = Buffer.from(replacement)

/** Bytes or text as text, without a byte order mark of bytes. */
export async function* decodeText(
  source: AsyncIterable<Uint8Array | string>,
): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  // The end of the piece before: a character may begin there.
  let before: Uint8Array = new Uint8Array()
  for await (const piece of source) {
    if (typeof piece === 'string') {
      yield piece
      continue
    }
    const text = decoder.decode(piece, { stream: true })
    yield text.includes(replacement) && hasOthers(text, before, piece)
      ? text.replaceAll(replacement, notUtf8)
      : text
    before = Buffer.concat([before, piece.subarray(-encoded.length)]).subarray(1 - encoded.length)
  }
  yield decoder.decode().replaceAll(replacement, notUtf8)
}

/**
 * Whether a text has more replacements than its bytes have encoded: those are of the decoder. Which ones cannot be told, so
 * in this piece all count as such: a message too many is named, and none is stored wrongly.
 */
function hasOthers(text: string, before: Uint8Array, piece: Uint8Array): boolean {
  const bytes = Buffer.concat([before, piece])
  let own = 0
  for (let at = bytes.indexOf(encoded); at >= 0; at = bytes.indexOf(encoded, at + 1)) own++
  return text.split(replacement).length - 1 > own
}
