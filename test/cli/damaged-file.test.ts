import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sqlite } from '../../src/store/sqlite/index.ts'
import { runHoldfast, temporaryFolder } from './run-holdfast.ts'
import { writeThreads } from './write-threads.ts'

/** A healthy database, and then rubbish where some of its pages were. */
async function damage(pages: readonly number[]): Promise<string> {
  const file = join(temporaryFolder(), 'chat.db')
  const store = sqlite(file)
  await writeThreads(store)
  await store.close()
  // The header of the file says how large its pages are.
  const pageBytes = readFileSync(file).readUInt16BE(16)
  const handle = openSync(file, 'r+')
  for (const page of pages) {
    writeSync(handle, new Uint8Array(pageBytes).fill(0xff), 0, pageBytes, page * pageBytes)
  }
  closeSync(handle)
  return file
}

/** The page (from 0) on which a table or an index begins. */
async function pageOf(name: string): Promise<number> {
  const { DatabaseSync } = await import('node:sqlite')
  const db = new DatabaseSync(await damage([]))
  const row = db.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(name)
  db.close()
  return Number(row?.['rootpage']) - 1
}

describe('a database file that is damaged', () => {
  it('[CR6] is named by check, on one line, with nothing promised', async () => {
    const db = await damage([await pageOf('threads_by_activity')])
    const { code, out } = await runHoldfast(['check', '--db', db])
    expect(code).toBe(1)
    const [first = '', ...rest] = out.trim().split('\n')
    expect(first).toMatch(/^damaged damaged-file: .*btreeInitPage\(\) returns error code 11/)
    expect(rest.at(-1)).toContain('The rest cannot be mended automatically')
    expect(out).not.toContain('--repair')
  })

  it('[CR6] ends check with 2 and advice where the threads cannot be read', async () => {
    const db = await damage([await pageOf('threads')])
    for (const args of [['check'], ['check', '--repair']]) {
      const { code, out, err } = await runHoldfast([...args, '--db', db])
      expect({ code, out }).toEqual({ code: 2, out: '' })
      expect(err).toBe(
        'holdfast: The database file is damaged. The check could not finish: restore a backup, or try what `holdfast export` can still read.\n',
      )
    }
  })

  it.each([
    ['import', '-'],
    ['export', '--all'],
  ])('ends %s with 2, and says where to look', async (...args) => {
    const db = await damage([await pageOf('threads')])
    const input = JSON.stringify({ id: 'new', messages: [{ id: 'u', role: 'user', content: 'x' }] })
    const { code, err } = await runHoldfast([...args, '--db', db], { input })
    expect(code).toBe(2)
    expect(err).toBe(
      'holdfast: The database file is damaged. Run `holdfast check` to see what is left.\n',
    )
  })

  it('is no reason for a server to say that it is ready', async () => {
    const db = await damage([await pageOf('threads_leased')])
    const { code, out, err } = await runHoldfast(['serve', '--port', '0', '--db', db])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain('The database file is damaged. Run `holdfast check`')
  })

  it.each(['serve', 'check', 'export --all', 'import -'])(
    '%s: what is no database at all is left as it is',
    async (command) => {
      const file = join(temporaryFolder(), 'notes.txt')
      const notes = 'Milk, bread, apples. '.repeat(1_000)
      writeFileSync(file, notes)
      const { code, err } = await runHoldfast([...command.split(' '), '--db', file], {
        input: '[]',
      })
      expect(code).toBe(2)
      expect(err).toBe('holdfast: The file is not a SQLite database. Choose another with --db.\n')
      expect(readFileSync(file, 'utf8')).toBe(notes)
    },
  )
})
