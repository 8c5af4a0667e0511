import type { Seq } from '../../core/ids.ts'
import { placesToRead, planPage } from '../../paging/plan-page.ts'
import type { Page, PageQuery } from '../store.ts'
import type { LedgerStatements } from './ledger-statements.ts'
import { mostBytes, readMessageRow } from './read-turn.ts'

/** Two phases (PG1): the edges from an index of places alone, then what is inside them. */
export function readPage(statements: LedgerStatements, query: PageQuery): Page | null {
  const { limit, before, results } = query
  const place = statements.readPlace.get(query.threadId)
  if (place === undefined) return null
  const { thread, seq } = place

  const running = query.live === 'exclude' ? statements.findRunning.all(thread) : []
  const leftOut = new Set<Seq>(running.map((turn) => turn.seq))
  const wanted = placesToRead(limit)
  const isUpward = query.order === 'oldest-first'
  const found = isUpward
    ? statements.readPlacesUpward.all(thread, before ?? 0, wanted + leftOut.size)
    : statements.readPlaces.all(thread, before ?? Number.MAX_SAFE_INTEGER, wanted + leftOut.size)
  const places = found.map((row) => row.seq).filter((at) => !leftOut.has(at))
  const edges = planPage(places.slice(0, wanted), limit)

  const [first] = edges.places
  const last = edges.places.at(-1)
  const inside =
    first === undefined || last === undefined
      ? []
      : statements.readMessages.all(thread, Math.min(first, last), Math.max(first, last))
  const rows = isUpward ? inside.toReversed() : inside
  return {
    seq,
    messages: rows
      .filter((row) => !leftOut.has(row.seq))
      .map((row) => readMessageRow(statements, thread, row, mostBytes(results))),
    hasMore: edges.hasMore,
    live: running[0]?.messageId ?? null,
  }
}
