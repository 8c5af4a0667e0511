/** A prepared statement: parsed and planned once per connection under its name. */
export interface Statement {
  readonly name: string
  readonly text: string
}

/** Runs a statement on a connection of the pool, or on that of a transaction. */
export type RunStatement = <Row extends object>(
  statement: Statement,
  values: readonly unknown[],
) => Promise<readonly Row[]>
