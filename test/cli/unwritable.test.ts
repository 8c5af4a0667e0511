import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sqlite } from 'holdfast/sqlite'
import { describe, expect, it } from 'vitest'
import { runHoldfast, temporaryFolder } from './run-holdfast.ts'

/** Root may write everywhere: there the command runs as somebody else. */
const somebody = 65_534
const isRoot = process.getuid?.() === 0
const uid = isRoot ? somebody : undefined

const serve = (folder: string, db: string) =>
  runHoldfast(
    ['serve', '--port', '0', '--db', db],
    uid === undefined ? { folder } : { folder, uid },
  )

/** A folder of theirs, with a database in it that an earlier start has made. */
async function withDatabase(): Promise<string> {
  const folder = temporaryFolder()
  const store = sqlite(join(folder, 'chat.db'))
  await store.close()
  if (isRoot)
    for (const place of [folder, join(folder, 'chat.db')]) chownSync(place, somebody, somebody)
  return folder
}

const canRun = async () => {
  if (process.platform === 'win32') return false
  const { code } = await runHoldfast(['--version'], uid === undefined ? {} : { uid })
  return code === 0
}

// An account that may not even enter the project's folder cannot try.
describe('a place that cannot be written to', () => {
  it('[OP9] a folder says so in one sentence at the start, with or without a database in it', async ({
    skip,
  }) => {
    if (!(await canRun())) return skip('another account cannot run the command here')
    const empty = temporaryFolder()
    const filled = await withDatabase()
    for (const folder of [empty, filled]) {
      chmodSync(folder, 0o555)
      const db = join(folder, 'chat.db')
      expect(await serve(folder, db)).toEqual({
        code: 2,
        out: '',
        err: `holdfast: The folder ${folder} cannot be written to by this account, and the database needs room there for itself and its log. Give this account the right to write there, or choose another with --db.\n`,
      })
      chmodSync(folder, 0o755)
    }
  })

  it('[OP9] a file, or its log, says so', async ({ skip }) => {
    if (!(await canRun())) return skip('another account cannot run the command here')
    const folder = await withDatabase()
    const db = join(folder, 'chat.db')
    chmodSync(db, 0o444)
    expect(await serve(folder, db)).toMatchObject({
      code: 2,
      err: `holdfast: The file ${db} cannot be written to by this account. Give this account the right to write there, or choose another with --db.\n`,
    })
    chmodSync(db, 0o644)
    writeFileSync(`${db}-wal`, '')
    chmodSync(`${db}-wal`, 0o444)
    if (isRoot) chownSync(`${db}-wal`, 0, 0)
    expect(await serve(folder, db)).toMatchObject({
      code: 2,
      err: `holdfast: The file ${db}-wal cannot be written to by this account. Give this account the right to write there, or choose another with --db.\n`,
    })
  })

  it('[OP9] a path that leads over a file is none', async () => {
    const folder = temporaryFolder({ notes: 'not a folder' })
    const { code, err } = await runHoldfast(['serve', '--port', '0', '--db', 'notes/chat.db'], {
      folder,
    })
    expect({ code, err }).toEqual({
      code: 2,
      err: 'holdfast: There is no folder notes. Make it, or choose another with --db.\n',
    })
  })

  // In /proc nobody can create a file, and root may write there all the same; anybody else is told that he may not.
  it.skipIf(process.platform !== 'linux' || !isRoot)(
    '[OP9] a place where no file can be created is named, with the remedy',
    async () => {
      const input = '[{"role": "user", "content": "Hello"}]'
      const place = '/proc/holdfast.db'
      for (const args of [['serve', '--port', '0'], ['import', '-'], ['migrate']]) {
        expect(await runHoldfast([...args, '--db', place], { input })).toEqual({
          code: 2,
          out: '',
          err: `holdfast: The database ${place} cannot be opened or created. Choose another with --db.\n`,
        })
      }
    },
  )

  it('[OP9] a dry run on what is no database says so in one sentence', async () => {
    const text = 'This is a text, and no database. '.repeat(9)
    const folder = temporaryFolder({ 'chat.db': text, 'rows.json': '[]' })
    const args = ['import', 'rows.json', '--dry-run', '--db', 'chat.db']
    expect(await runHoldfast(args, { folder })).toEqual({
      code: 2,
      out: '',
      err: 'holdfast: The file is not a SQLite database. Choose another with --db.\n',
    })
  })

  it('[OP9] the library says the same', () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'chat.db'))
    expect(() => sqlite(join(folder, 'chat.db'))).toThrow(`${join(folder, 'chat.db')} is a folder.`)
    const nowhere = join(folder, 'nowhere', 'chat.db')
    expect(() => sqlite(nowhere)).toThrow(`There is no folder ${join(folder, 'nowhere')}.`)
  })
})
