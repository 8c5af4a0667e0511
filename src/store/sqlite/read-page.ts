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
  const places = statements.readPlaces
    .all(thread, before ?? Number.MAX_SAFE_INTEGER, wanted + leftOut.size)
    .map((row) => row.seq)
    .filter((found) => !leftOut.has(found))
  const edges = planPage(places.slice(0, wanted), limit)

  const [newest] = edges.places
  const oldest = edges.places.at(-1)
  const rows =
    newest === undefined || oldest === undefined
      ? []
      : statements.readMessages.all(thread, oldest, newest)
  return {
    seq,
    messages: rows
      .filter((row) => !leftOut.has(row.seq))
      .map((row) => readMessageRow(statements, thread, row, mostBytes(results))),
    hasMore: edges.hasMore,
    live: running[0]?.messageId ?? null,
  }
}
