import { lockMigrations, type MigrationQuery } from './migrate.ts'

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
