/**
 * A thread that is not there has no row to lock. So whoever may make it takes a lock on its name: one at
 * a time, and the second finds what the first has made. These are taken before any row is locked, and in
 * one order: nobody who holds rows waits here, and so nobody waits in a circle. A transaction of several
 * statements takes all it may need at its start.
 */
export const lockName = (name: string): string => `pg_advisory_xact_lock(${toKey(name)})`

/** `names` is a list; what is made of it follows a SELECT or PERFORM. */
export const lockNames = (names: string): string => `pg_advisory_xact_lock(n.key) FROM (
    SELECT DISTINCT ${toKey('name')} AS key FROM unnest(${names}) AS name ORDER BY key OFFSET 0) AS n`

const toKey = (name: string) => `hashtextextended('holdfast thread ' || ${name}, 0)`
