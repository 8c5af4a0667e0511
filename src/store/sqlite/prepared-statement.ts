import type { SQLInputValue } from 'node:sqlite'

/** A prepared statement with the types of what goes in and comes out. */
export interface Statement<Params extends readonly SQLInputValue[] | NamedParams, Row> {
  get(...params: ArgumentsOf<Params>): Row | undefined
  all(...params: ArgumentsOf<Params>): readonly Row[]
  /** Reads no more rows than are asked for. */
  iterate(...params: ArgumentsOf<Params>): Iterable<Row>
  run(...params: ArgumentsOf<Params>): {
    readonly changes: number | bigint
    readonly lastInsertRowid: number | bigint
  }
}
export type NamedParams = Readonly<Record<string, SQLInputValue>>
type ArgumentsOf<Params> = Params extends readonly unknown[] ? Params : [params: Params]
