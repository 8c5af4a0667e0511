import { HoldfastError } from '../../core/holdfast-error.ts'
import type { MigrationResult } from '../store.ts'
import { allMigrations } from './migrations/all-migrations.ts'
import type { Migration } from './migrations/migration.ts'
import { readSqlState } from './postgres-error.ts'

/** Runs a statement on the connection that migrates. */
export type MigrationQuery = <Row extends object>(
  text: string,
  values?: readonly unknown[],
) => Promise<readonly Row[]>

/**
 * Brings a schema up to date, inside the caller's transaction. A schema that is up to date is only
 * read, so that a read-only server can be opened. Two processes that open an empty database at once
 * wait for each other here.
 *
 * A newer program may have been here. What only added leaves this one as it was, so that both run while
 * one replaces the other; anything else is refused as `store-newer`.
 */
export async function migrate(
  query: MigrationQuery,
  name: string,
  steps: readonly Migration[] = allMigrations,
): Promise<MigrationResult> {
  const newest = steps.at(-1)?.version ?? 0
  await query('SAVEPOINT looked')
  const found = await readApplied(query, name)
  if (isUsable(found, newest)) return unchanged(found)

  // With it goes the lock of that read: whoever migrates now may have to change the table that was read, and two that
  // wait for each other's locks would end in a deadlock.
  await query('ROLLBACK TO SAVEPOINT looked')
  await lockMigrations(query, name)
  const applied = await readApplied(query, name)
  if (isUsable(applied, newest)) return unchanged(applied)
  const version = applied.at(-1)?.version ?? 0
  try {
    await applySteps(query, name, version, steps)
  } catch (error) {
    throw readSqlState(error) === '42501' ? notAllowed(name, version, newest, error) : error
  }
  return { from: version, to: newest }
}

/** Until the transaction ends: two that migrate one schema at once come one after the other. */
async function lockMigrations(query: MigrationQuery, name: string): Promise<void> {
  await query(`SET LOCAL lock_timeout = '5min'`)
  await query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`holdfast ${name}`])
  // Whoever reads or writes meanwhile queues behind a change of a table that waits: not for long.
  await query(`SET LOCAL lock_timeout = '10s'`)
}

async function applySteps(
  query: MigrationQuery,
  name: string,
  version: number,
  steps: readonly Migration[],
): Promise<void> {
  const schema = `"${name}"`
  if (version === 0) {
    // Asked for first: without the right to create schemas, IF NOT EXISTS fails even if it exists.
    const schemas = await query('SELECT FROM pg_namespace WHERE nspname = $1', [name])
    if (schemas.length === 0) await query(`CREATE SCHEMA ${schema}`)
    await query(`CREATE TABLE ${schema}.migrations (
      version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())`)
  }
  await query(`ALTER TABLE ${schema}.migrations
    ADD COLUMN IF NOT EXISTS is_additive boolean NOT NULL DEFAULT false`)
  for (const step of steps.filter((each) => each.version > version)) {
    await query(step.toSql(schema))
    await query(`INSERT INTO ${schema}.migrations (version, is_additive) VALUES ($1, $2)`, [
      step.version,
      step.isAdditive === true,
    ])
  }
}

const notAllowed = (name: string, version: number, newest: number, cause: unknown) =>
  new HoldfastError(
    'store-read-only',
    `The PostgreSQL schema "${name}" ${version === 0 ? 'has no tables yet' : `is of version ${version}`}, this program needs version ${newest}, and the account may not make it so (${cause instanceof Error ? cause.message : ''}). Run \`holdfast migrate\` with one that may: the owner of the schema, or GRANT CREATE ON DATABASE where there is none.`,
    { cause, isTemporary: true },
  )

const unchanged = (applied: readonly AppliedMigration[]): MigrationResult => {
  const version = applied.at(-1)?.version ?? 0
  return { from: version, to: version }
}

interface AppliedMigration {
  readonly version: number
  readonly isAdditive: boolean
}

/** False: there is something to do. A database that is too new for this program is refused. */
function isUsable(applied: readonly AppliedMigration[], newest: number): boolean {
  const breaking = applied.findLast((each) => each.version > newest && !each.isAdditive)
  if (breaking !== undefined) {
    throw new HoldfastError(
      'store-newer',
      `The database is of version ${breaking.version}; this program knows versions up to ${newest}.`,
    )
  }
  return (applied.at(-1)?.version ?? 0) >= newest
}

/** In the order of their versions; none: nothing of ours is there. */
async function readApplied(
  query: MigrationQuery,
  name: string,
): Promise<readonly AppliedMigration[]> {
  const [table] = await query<{ found: boolean }>(
    `SELECT EXISTS (SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = 'migrations') AS found`,
    [name],
  )
  if (table?.found !== true) return []
  // As JSON: older databases do not have the column.
  return query<AppliedMigration>(
    `SELECT version, coalesce((to_jsonb(m) ->> 'is_additive')::boolean, false) AS "isAdditive"
     FROM "${name}".migrations AS m ORDER BY version`,
  )
}

/** The tables of threads, and the column by which each is spread. What belongs to a thread stands in one part. */
const partitionKeys: Readonly<Record<string, string>> = {
  threads: 'id',
  messages: 'thread_id',
  events: 'thread_id',
  calls: 'thread_id',
}

/**
 * Spreads the tables over `count` parts each, by the hash of the thread: every unique key begins with the thread, so
 * nothing else changes. Rows that are there are copied, behind locks that end with the caller's transaction.
 * Tables that are spread already stay as they are.
 *
 * Indexes, triggers and storage settings are taken over from the table as it is, whatever steps have made it so.
 */
export async function partitionTables(
  query: MigrationQuery,
  name: string,
  count: number,
): Promise<void> {
  await lockMigrations(query, name)
  for (const [table, key] of Object.entries(partitionKeys)) {
    const [found] = await query<{ readonly kind: string }>(
      `SELECT c.relkind AS kind FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname = $1 AND c.relname = $2`,
      [name, table],
    )
    if (found?.kind === 'r') await query(partitionSql(name, table, key, count))
  }
}

// Names are ours, or were checked to be plain words when the store was made.
const partitionSql = (name: string, table: string, key: string, count: number): string => `
DO $$
DECLARE
  old regclass := '"${name}".${table}';
  options text;
  definitions text[];
  definition text;
BEGIN
  LOCK TABLE "${name}".${table} IN ACCESS EXCLUSIVE MODE;
  SELECT coalesce('WITH (' || array_to_string(reloptions, ', ') || ')', '') INTO options
    FROM pg_class WHERE oid = old;
  SELECT array_agg(text ORDER BY place) INTO definitions FROM (
    SELECT 1 AS place, format('ALTER TABLE %s ADD CONSTRAINT %I %s', old, conname,
      pg_get_constraintdef(oid)) AS text
      FROM pg_constraint WHERE conrelid = old AND contype IN ('p', 'u')
    UNION ALL SELECT 2, pg_get_indexdef(indexrelid) FROM pg_index
      WHERE indrelid = old AND NOT EXISTS (
        SELECT FROM pg_constraint WHERE conindid = indexrelid AND contype IN ('p', 'u'))
    UNION ALL SELECT 3, pg_get_triggerdef(oid) FROM pg_trigger
      WHERE tgrelid = old AND NOT tgisinternal) AS d;
  ALTER TABLE "${name}".${table} RENAME TO ${table}_whole;
  CREATE TABLE "${name}".${table} (LIKE "${name}".${table}_whole
    INCLUDING ALL EXCLUDING INDEXES) PARTITION BY HASH (${key});
  FOR part IN 0..${count - 1} LOOP
    EXECUTE format('CREATE TABLE "${name}".%I PARTITION OF "${name}".${table}
      FOR VALUES WITH (MODULUS ${count}, REMAINDER %s) %s', '${table}_part_' || part, part, options);
  END LOOP;
  INSERT INTO "${name}".${table} SELECT * FROM "${name}".${table}_whole;
  -- Rights that were given to the table are given to the new one.
  FOR definition IN SELECT format('GRANT %s ON "${name}".${table} TO %s', privilege_type,
      CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END)
    FROM pg_class, aclexplode(relacl) WHERE oid = old LOOP
    EXECUTE definition;
  END LOOP;
  DROP TABLE "${name}".${table}_whole;
  FOREACH definition IN ARRAY definitions LOOP EXECUTE definition; END LOOP;
END $$`
