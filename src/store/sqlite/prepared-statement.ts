import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { ThreadId } from '../../core/ids.ts'

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

/** Prepares statements with the types that the caller names. */
export const prepareOn =
  (db: DatabaseSync) =>
  <Params extends readonly SQLInputValue[] | NamedParams, Row = never>(
    text: string,
  ): Statement<Params, Row> =>
    db.prepare(text) as unknown as Statement<Params, Row>

/** The verbs of a connection that may have to wait for the file, for code that needs these statements of it. */
export interface StatementAccess<Statements> {
  /** Runs `work` in one snapshot. */
  readonly read: <Result>(work: (statements: Statements) => Result) => Promise<Result>
  /** Runs `work` in one transaction: everything it writes is stored, or nothing. */
  readonly write: <Result>(work: (statements: Statements) => Result) => Promise<Result>
}

/** The key of a thread in this database; it never leaves the store. */
export type ThreadKey = number

/** Which thread has an id: the other tables have its key in place of the id. */
export interface ThreadKeyRow {
  readonly thread: ThreadKey
  readonly incarnation: string
}
export interface KeyStatements {
  readonly readKey: Statement<[ThreadId], ThreadKeyRow>
}
