import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'

const statements = new WeakMap<DatabaseSync, StatementSync[]>()

/**
 * The rows of a statement, one at a time, as the newest Node gives them. In Node 22 an iterator does not hold
 * its statement: one that nobody else refers to is finalized by the next garbage collection, in the
 * middle of its rows. So it is held as long as its connection is; for connections that do not live long.
 */
export function iterateRows(
  db: DatabaseSync,
  text: string,
  ...params: readonly SQLInputValue[]
): Generator<unknown, void> {
  const statement = db.prepare(text)
  const held = statements.get(db)
  if (held === undefined) statements.set(db, [statement])
  else held.push(statement)
  return rowsOf(statement, params)
}

/** In Node 24.0 an iterator that is asked once more after its last row begins again; a generator does not. */
function* rowsOf(
  statement: StatementSync,
  params: readonly SQLInputValue[],
): Generator<unknown, void> {
  yield* statement.iterate(...params)
}
