/** A statement, and the name under which it is prepared on connections that are ours alone. */
export interface Statement {
  readonly name: string
  readonly text: string
}

/** Runs a statement on a connection of the pool, or on that of a transaction. */
export type RunStatement = <Row extends object>(
  statement: Statement,
  values: readonly unknown[],
) => Promise<readonly Row[]>

/** How long one statement may take on the server, and wait there for a lock. */
export interface StatementLimits {
  readonly statementMs: number
  readonly lockMs: number
}

/**
 * What a statement of ours needs of a server, for its own transaction and no longer: a connection may belong to
 * a pooler or to the host, and what is set on its session would be met by whoever has it next. No page waits for
 * a compiler, and a plan that was made while the tables were small still uses their indexes when they have grown.
 */
export const planSettings: readonly (readonly [name: string, value: string])[] = [
  ['jit', 'off'],
  ['enable_seqscan', 'off'],
  ['plan_cache_mode', 'force_generic_plan'],
]

/** The same inside of a transaction block. A process that freezes in the middle of it blocks nobody for long. */
export const toTransactionStart = ({ statementMs, lockMs }: StatementLimits): string =>
  `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = ${statementMs};
   SET LOCAL lock_timeout = ${lockMs}; SET LOCAL idle_in_transaction_session_timeout = '10s';
   ${planSettings.map(([name, value]) => `SET LOCAL ${name} = ${value}`).join('; ')}`
