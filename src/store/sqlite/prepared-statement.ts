import type { SQLInputValue } from 'node:sqlite'

/** A prepared statement with the types of its parameters and rows. */
export interface Statement<Params extends readonly SQLInputValue[] | NamedParams, Row> {
  get(...params: ArgumentsOf<Params>): Row | undefined
  all(...params: ArgumentsOf<Params>): readonly Row[]
  /** Reads rows as they are consumed. */
  iterate(...params: ArgumentsOf<Params>): Iterable<Row>
  run(...params: ArgumentsOf<Params>): {
    readonly changes: number | bigint
    readonly lastInsertRowid: number | bigint
  }
}
export type NamedParams = Readonly<Record<string, SQLInputValue>>
type ArgumentsOf<Params> = Params extends readonly unknown[] ? Params : [params: Params]
