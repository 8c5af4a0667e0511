import type { FileId } from '../../core/file.ts'
import { type ByteRange, cutToRange, type FileStore } from '../../files/file-store.ts'
import type { Database } from './database.ts'
import type { Statement } from './statement.ts'

const pieceBytes = 262_144

/**
 * Stores files in the database itself, in pieces: for small installations, in which one backup has
 * everything. Each piece is written and read by a statement of its own, so that no file is held in memory as
 * a whole.
 */
export function createPostgresFiles({ run }: Pick<Database, 'run'>, schema: string): FileStore {
  const sql = {
    write: statement(
      'write-piece',
      `INSERT INTO ${schema}.file_pieces (file_id, nth, bytes)
       VALUES ($1, $2, decode($3::text, 'base64'))
       ON CONFLICT (file_id, nth) DO UPDATE SET bytes = excluded.bytes`,
    ),
    read: statement(
      'read-piece',
      `SELECT encode(bytes, 'base64') AS bytes FROM ${schema}.file_pieces
       WHERE file_id = $1 AND nth = $2`,
    ),
    remove: statement('remove-pieces', `DELETE FROM ${schema}.file_pieces WHERE file_id = $1`),
  }
  const readPiece = async (id: FileId, nth: number): Promise<Uint8Array | undefined> => {
    const [row] = await run<{ readonly bytes: string }>(sql.read, [id, nth])
    return row === undefined ? undefined : Buffer.from(row.bytes, 'base64')
  }

  async function* readFrom(id: FileId, first: number, head: Uint8Array) {
    let piece: Uint8Array | undefined = head
    for (let nth = first; piece !== undefined; piece = await readPiece(id, nth)) {
      yield piece
      nth++
    }
  }

  return {
    kind: 'postgres',
    async write(id, content) {
      let nth = 0
      for await (const piece of toPieces(content)) {
        await run(sql.write, [id, nth++, piece.toString('base64')])
      }
      // An empty file has one empty piece.
      if (nth === 0) await run(sql.write, [id, 0, ''])
    },
    async read(id, range = { start: 0, end: Number.MAX_SAFE_INTEGER }) {
      const first = Math.floor(range.start / pieceBytes)
      const head = await readPiece(id, first)
      if (head === undefined) return null
      return cutToRange(readFrom(id, first, head), shift(range, -first * pieceBytes))
    },
    async remove(id) {
      await run(sql.remove, [id])
    },
  }
}

const shift = ({ start, end }: ByteRange, by: number): ByteRange => ({
  start: start + by,
  end: end + by,
})

/** Cuts the bytes into pieces of one size; the last one may be shorter. */
async function* toPieces(content: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let held: Uint8Array[] = []
  let size = 0
  for await (const chunk of content) {
    for (let at = 0; at < chunk.byteLength;) {
      const part = chunk.subarray(at, at + pieceBytes - size)
      held.push(part)
      size += part.byteLength
      at += part.byteLength
      if (size < pieceBytes) continue
      yield Buffer.concat(held)
      held = []
      size = 0
    }
  }
  if (size > 0) yield Buffer.concat(held)
}

const statement = (name: string, text: string): Statement => ({ name: `holdfast-${name}`, text })
