import { describe, expect, it } from 'vitest'
import { ledgerSql } from '../../src/store/sqlite/ledger-sql.ts'
import { shareSql } from '../../src/store/sqlite/share-records.ts'
import { openRaw, openStore, temporaryFile } from './temporary-file.ts'

/** The steps of a plan, as SQLite words them. */
function readPlan(file: string, sql: string): readonly string[] {
  const rows = openRaw(file).prepare(`EXPLAIN QUERY PLAN ${sql}`).all()
  return rows.map((row) => String(row['detail']))
}

function createFile(): string {
  const file = temporaryFile()
  openStore(file)
  return file
}

/** Goes over all leases that are held: few, and all of them are wanted. */
const scansByDesign: ReadonlySet<string> = new Set(['findLeases'])
/** Go over all of a thread because it is deleted, or over its inputs, or over its turns that are running. */
const wholeThreadByDesign = ['countMessages', 'deleteInputs', 'deleteInputsFrom', 'findRunning']

const isScan = (step: string) => step.startsWith('SCAN') && step !== 'SCAN CONSTANT ROW'

describe('[PG6] no query goes over a whole table', () => {
  for (const [name, sql] of Object.entries({ ...ledgerSql, ...shareSql })) {
    it(`[PG6] ${name}`, () => {
      const plan = readPlan(createFile(), sql)
      expect(plan.filter(isScan)).toEqual(
        scansByDesign.has(name) ? ['SCAN threads USING INDEX threads_leased'] : [],
      )
    })
  }

  it('would be seen if one did', () => {
    const plan = readPlan(createFile(), 'SELECT 1 FROM events WHERE payload = ?')
    expect(plan.filter(isScan)).toEqual(['SCAN events'])
  })

  it('[PG6] nor over a whole thread', () => {
    const file = createFile()
    const whole = Object.entries(ledgerSql).flatMap(([name, sql]) =>
      readPlan(file, sql).some((step) => step.endsWith('(thread=?)')) ? [name] : [],
    )
    expect(whole).toEqual(wholeThreadByDesign)
  })

  it('[PG1] the edges of a page come from an index of places alone', () => {
    expect(readPlan(createFile(), ledgerSql.readPlaces)).toEqual([
      'SEARCH messages USING COVERING INDEX messages_shown (thread=? AND seq<?)',
    ])
  })

  it('[FK2] a page of the archive, or of what is pinned, goes over no other threads', () => {
    const file = createFile()
    const places = '(owner_id=? AND archived=? AND activity<?)'
    expect(readPlan(file, ledgerSql.listByArchive)).toEqual([
      `SEARCH threads USING INDEX threads_by_archive ${places}`,
    ])
    expect(readPlan(file, ledgerSql.listPinned)).toEqual([
      `SEARCH threads USING INDEX threads_pinned ${places}`,
    ])
  })

  it('[PG6] nothing is sorted but the few messages that share an id', () => {
    const file = createFile()
    const sorted = Object.entries(ledgerSql).flatMap(([name, sql]) =>
      readPlan(file, sql).some((step) => step.includes('TEMP B-TREE')) ? [name] : [],
    )
    expect(sorted).toEqual(['readMessage', 'readPathById'])
  })
})
