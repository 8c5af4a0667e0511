import { statSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parseOwnerId, parseThreadId } from '../../src/core/ids.ts'
import { openRaw, openStore, temporaryFile } from './temporary-file.ts'

const mebibyte = 1_048_576

it('[OP8] the log that grew while somebody read for long gets its usual size back', async () => {
  const file = temporaryFile()
  const store = openStore(file)
  const create = (nth: number, chars: number) =>
    store.createThread({
      id: parseThreadId(`t${nth}`),
      ownerId: parseOwnerId('ann'),
      title: '',
      metadata: { text: 'x'.repeat(chars) },
      at: 1,
    })
  await create(0, 1)
  const reader = openRaw(file)
  reader.exec('BEGIN; SELECT count(*) FROM threads')
  for (let nth = 1; nth <= 20; nth++) await create(nth, 2 * mebibyte)
  const logBytes = () => statSync(`${file}-wal`).size / mebibyte
  expect(logBytes()).toBeGreaterThan(40)
  reader.exec('COMMIT')
  // The first copies the log into the file, and the next one begins it anew.
  for (let nth = 21; nth <= 23; nth++) await create(nth, 1)
  expect(logBytes()).toBeLessThanOrEqual(16)
})
