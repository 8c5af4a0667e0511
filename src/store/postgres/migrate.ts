import { HoldfastError } from '../../core/holdfast-error.ts'
import type { MigrationResult } from '../store.ts'
import { allMigrations } from './migrations/all-migrations.ts'
import type { Migration } from './migrations/migration.ts'
import { readSqlState } from './postgres-error.ts'

/** Runs a statement on the connection of the migration. */
export type MigrationQuery = <Row extends object>(
  text: string,
  values?: readonly unknown[],
) => Promise<readonly Row[]>

/**
 * The versions of a schema that is up to date; null: it has to be migrated. Only reads, so that a read-only server can
 * be opened, and in a transaction of its own, so that no lock of this read is in the way of a migration.
 *
 * A newer version may have migrated the schema. If it only added to it, this version can use it too, so that both run
 * during a deploy; anything else is refused as `store-newer`.
 */
export async function findMigrated(
  query: MigrationQuery,
  name: string,
): Promise<MigrationResult | null> {
  const found = await readApplied(query, name)
  return isUsable(found, newestOf(allMigrations)) ? unchanged(found) : null
}

/** `absent`: the schema has no tables of Holdfast, or does not exist. `older`: they have to be migrated. */
export type MigrationState = 'absent' | 'older' | 'current'

/** Only reads. Throws if the tables are too new for this version. */
export async function readMigrationState(
  query: MigrationQuery,
  name: string,
): Promise<MigrationState> {
  const applied = await readApplied(query, name)
  if (applied.length === 0) return 'absent'
  return isUsable(applied, newestOf(allMigrations)) ? 'current' : 'older'
}

/** Migrates a schema inside the caller's transaction. Two processes that do it at the same time wait for each other here. */
export async function migrate(
  query: MigrationQuery,
  name: string,
  steps: readonly Migration[] = allMigrations,
): Promise<MigrationResult> {
  const newest = newestOf(steps)
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

const newestOf = (steps: readonly Migration[]): number => steps.at(-1)?.version ?? 0

/** Held until the transaction ends: two migrations of one schema run one after the other. */
async function lockMigrations(query: MigrationQuery, name: string): Promise<void> {
  await query(`SET LOCAL lock_timeout = '5min'`)
  await query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`holdfast ${name}`])
  // Readers and writers queue behind an ALTER TABLE that waits for its lock, so it must not wait long.
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
    // Checked first: without the right to create schemas, IF NOT EXISTS fails even if the schema exists.
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

/** False: there are migrations to run. Throws if the database is too new for this version. */
function isUsable(applied: readonly AppliedMigration[], newest: number): boolean {
  const breaking = applied.findLast((each) => each.version > newest && !each.isAdditive)
  if (breaking !== undefined) {
    throw new HoldfastError(
      'store-newer',
      `The database has version ${breaking.version}; this program supports versions up to ${newest}.`,
    )
  }
  return (applied.at(-1)?.version ?? 0) >= newest
}

/** Those that hold every text; `SQL_ASCII` takes the bytes as they come. */
const encodings: ReadonlySet<string> = new Set(['UTF8', 'SQL_ASCII'])

const wrongEncoding = (encoding: string) =>
  new HoldfastError(
    'bad-option',
    `The PostgreSQL database has the encoding ${encoding}, in which most languages and every emoji cannot be stored. Holdfast needs one that was created with ENCODING 'UTF8'.`,
  )

/** In the order of their versions; empty: the schema has no tables of Holdfast. */
async function readApplied(
  query: MigrationQuery,
  name: string,
): Promise<readonly AppliedMigration[]> {
  const [table] = await query<{ found: boolean; encoding: string }>(
    `SELECT EXISTS (SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = 'migrations') AS found,
       current_setting('server_encoding') AS encoding`,
    [name],
  )
  if (table !== undefined && !encodings.has(table.encoding)) throw wrongEncoding(table.encoding)
  if (table?.found !== true) return []
  // As JSON: older databases do not have the column.
  return query<AppliedMigration>(
    `SELECT version, coalesce((to_jsonb(m) ->> 'is_additive')::boolean, false) AS "isAdditive"
     FROM "${name}".migrations AS m ORDER BY version`,
  )
}

/**
 * The tables of threads, and the column by which each is partitioned. All rows of a thread are in one
 * partition.
 */
const partitionKeys: Readonly<Record<string, string>> = {
  threads: 'id',
  messages: 'thread_id',
  events: 'thread_id',
  calls: 'thread_id',
}

/**
 * Splits the tables into `count` partitions each, by the hash of the thread: every unique key begins with the thread, so
 * nothing else changes. Existing rows are copied under locks that end with the caller's transaction. Tables that are
 * partitioned already stay as they are.
 *
 * Indexes, triggers and storage settings are copied from the existing table, whichever migrations made them.
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

// The names are constants, or were checked to be plain identifiers when the store was created.
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
  -- Copies the privileges of the old table to the new one.
  FOR definition IN SELECT format('GRANT %s ON "${name}".${table} TO %s', privilege_type,
      CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END)
    FROM pg_class, aclexplode(relacl) WHERE oid = old LOOP
    EXECUTE definition;
  END LOOP;
  DROP TABLE "${name}".${table}_whole;
  FOREACH definition IN ARRAY definitions LOOP EXECUTE definition; END LOOP;
END $$`
