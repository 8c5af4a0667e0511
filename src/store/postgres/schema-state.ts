import { createConnector } from './connector.ts'
import { readMigrationState, type MigrationState } from './migrate.ts'
import { isBlocked, toConnectFault } from './postgres-error.ts'
import { toTransactionStart } from './statement.ts'

const limitMs = 5_000
/** The server's limits are shorter than ours, so that its error arrives. */
const serverLimits = { statementMs: 4_000, lockMs: 3_000 }

/**
 * Whether a schema has tables of Holdfast, without creating or changing any: a store does both as soon as it is used.
 * On a connection of its own, which is closed again.
 */
export async function readSchemaState(url: string, schema: string): Promise<MigrationState> {
  const connection = await createConnector(url, limitMs).connect()
  try {
    await connection.query(toTransactionStart(serverLimits), limitMs)
    return await readMigrationState(
      async <Row extends object>(text: string, values: readonly unknown[] = []) =>
        (await connection.query<Row>({ text, values: [...values] }, limitMs)).rows,
      schema,
    )
  } catch (error) {
    // Another process migrates them at the moment.
    if (isBlocked(error)) return 'older'
    throw toConnectFault(error)
  } finally {
    // Also rolls back.
    await connection.close()
  }
}
