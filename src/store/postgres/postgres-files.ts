import { createFairGate } from '../../core/fair-gate.ts'
import type { FileId } from '../../core/file.ts'
import type { ByteRange, FileAbout, FileStore } from '../../files/file-store.ts'
import type { Database } from './database.ts'
import { type Statement, toStatement } from './statement.ts'

const pieceBytes = 262_144

/**
 * A hundred downloads that one person begins at once would otherwise have all connections, and everybody wait for them: of
 * each person one piece is moved at once, and people take turns. What belongs to a turn has places of its own, because a
 * file that comes too late is missing for the model (OP7).
 */
const piecesAtOnce = 2

/**
 * Stores files in the database itself, in pieces: for small installations, in which one backup has
 * everything. Each piece is written and read by a statement of its own, so that no file is held in memory as
 * a whole.
 */
export function createPostgresFiles(database: Pick<Database, 'run'>, schema: string): FileStore {
  const { run } = database
  const enterTransfers = createFairGate(piecesAtOnce)
  const enterTurns = createFairGate(piecesAtOnce)
  const runPiece = async <Row extends object>(
    { user, isForTurn = false }: Whose,
    statement: Statement,
    values: readonly [FileId, ...(readonly unknown[])],
  ): Promise<readonly Row[]> => {
    const enter = isForTurn ? enterTurns : enterTransfers
    const leave = await enter(user ?? values[0])
    try {
      return await run<Row>(statement, values)
    } finally {
      leave()
    }
  }
  const sql = {
    write: toStatement(
      'write-piece',
      `INSERT INTO ${schema}.file_pieces (file_id, nth, bytes)
       VALUES ($1, $2, decode($3::text, 'base64'))
       ON CONFLICT (file_id, nth) DO UPDATE SET bytes = excluded.bytes`,
    ),
    read: toStatement(
      'read-piece',
      `SELECT encode(substring(bytes FROM $3::int FOR $4::int), 'base64') AS bytes FROM ${schema}.file_pieces
       WHERE file_id = $1 AND nth = $2`,
    ),
    remove: toStatement('remove-pieces', `DELETE FROM ${schema}.file_pieces WHERE file_id = $1`),
  }
  /** What is in the range of one piece; undefined after the last. */
  const readPiece = async (
    whose: Whose,
    id: FileId,
    nth: number,
    { start, end }: ByteRange,
  ): Promise<Uint8Array | undefined> => {
    const from = Math.max(start - nth * pieceBytes, 0)
    const to = Math.min(end + 1 - nth * pieceBytes, pieceBytes)
    const values = [id, nth, from + 1, Math.max(to - from, 0)] as const
    const [row] = await runPiece<{ readonly bytes: string }>(whose, sql.read, values)
    return row === undefined ? undefined : Buffer.from(row.bytes, 'base64')
  }

  async function* readFrom(
    read: (nth: number) => Promise<Uint8Array | undefined>,
    { first, last }: { readonly first: number; readonly last: number },
    head: Uint8Array,
  ) {
    let piece: Uint8Array | undefined = head
    for (let nth = first; piece !== undefined; piece = await read(nth)) {
      if (piece.byteLength > 0) yield piece
      nth++
      if (nth > last) return
    }
  }

  return {
    kind: 'postgres',
    async write(id, content, about) {
      let nth = 0
      for await (const piece of toPieces(content)) {
        await runPiece(about, sql.write, [id, nth++, piece.toString('base64')])
      }
      // An empty file has one empty piece.
      if (nth === 0) await runPiece(about, sql.write, [id, 0, ''])
    },
    async read(id, range = { start: 0, end: Number.MAX_SAFE_INTEGER }, whose = {}) {
      const [first = 0, last = 0] = [range.start, range.end].map((at) =>
        Math.floor(at / pieceBytes),
      )
      const read = (nth: number) => readPiece(whose, id, nth, range)
      const head = await read(first)
      return head === undefined ? null : readFrom(read, { first, last }, head)
    },
    async remove(id) {
      await run(sql.remove, [id])
    },
  }
}

type Whose = Omit<FileAbout, 'mediaType'>

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
