import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'

const statements = new WeakMap<DatabaseSync, StatementSync[]>()

/**
 * The rows of a statement, one at a time. In Node 22 an iterator does not hold its statement: one that
 * nobody else refers to is finalized by the next garbage collection, in the middle of its rows. So it is
 * held as long as its connection is; for connections that do not live long.
 */
export function iterateRows(
  db: DatabaseSync,
  text: string,
  ...params: readonly SQLInputValue[]
): Iterator<unknown> & Iterable<unknown> {
  const statement = db.prepare(text)
  const held = statements.get(db)
  if (held === undefined) statements.set(db, [statement])
  else held.push(statement)
  return statement.iterate(...params)
}
