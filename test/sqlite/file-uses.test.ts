import { expect, it } from 'vitest'
import { parseOwnerId, parseThreadId } from '../../src/core/ids.ts'
import { openRaw, openStore, temporaryFile } from './temporary-file.ts'

it('[FL2] tables from before end uses in threads of other owners, and keep the files as new uploads', async () => {
  const file = temporaryFile()
  const store = openStore(file)
  const [ana, ben] = [parseOwnerId('ana'), parseOwnerId('ben')]
  const add = async (digit: string) => {
    const id = `file_${digit.repeat(32)}`
    const record = { id, ownerId: ana, mediaType: 'text/plain', bytes: 1, sha256: 'ab' }
    await store.files?.begin({ id, ownerId: ana, at: 1 })
    await store.files?.finish({ ...record, createdAt: 1 }, 100)
    return id
  }
  const [own, wrong] = [await add('1'), await add('2')]
  for (const ownerId of [ana, ben]) {
    await store.createThread({ id: parseThreadId(ownerId), ownerId, title: '', at: 1 })
  }
  await store.close()
  const raw = openRaw(file)
  raw.exec(`INSERT INTO file_uses (thread, file_id) SELECT thread, files.id FROM threads, files
      WHERE (threads.id, files.id) IN (VALUES ('ana', '${own}'), ('ben', '${wrong}'));
    UPDATE files SET is_used = 1, reserved_at = 0;
    ALTER TABLE file_uses DROP COLUMN queued;
    DELETE FROM additive_migrations WHERE version = 15;
    PRAGMA user_version = 14`)
  raw.close()
  const now = openStore(file)
  const day = 86_400_000
  expect(await now.files?.claimUnused({ before: Date.now() - day, limit: 9 })).toEqual([])
  expect(await now.files?.claimUnused({ before: Date.now() + day, limit: 9 })).toEqual([wrong])
  expect(await now.files?.read(own)).not.toBeNull()
})
