import assert from 'node:assert/strict'
import { type FileId, type FileRecord, toFileUrl } from '../../core/file.ts'
import { parseMessageId, parseThreadId } from '../../core/ids.ts'
import type { FileRecords } from '../../store/file-records.ts'
import type { Store } from '../../store/store.ts'
import type { StoreRule } from './store-rule.ts'
import { ana, append, at, ben, createThread, tryAppend } from './thread-script.ts'

const idOf = (digit: string): FileId => `file_${digit.repeat(32)}`
const most = 1_000

const fileOf = (digit: string, more: Partial<FileRecord> = {}): FileRecord => ({
  id: idOf(digit),
  ownerId: ana,
  mediaType: 'image/png',
  bytes: 100,
  sha256: 'ab'.repeat(32),
  createdAt: at,
  ...more,
})

/** A store without files has nothing to keep here. */
async function withFiles(
  open: () => Promise<Store>,
  check: (files: FileRecords, store: Store) => Promise<void>,
): Promise<void> {
  const store = await open()
  if (store.files !== undefined) await check(store.files, store)
}

async function add(files: FileRecords, file: FileRecord): Promise<FileRecord> {
  await files.begin({ id: file.id, ownerId: file.ownerId, at })
  assert.equal(await files.finish(file, most), 'ready')
  return file
}

const naming = (messageId: string, ...ids: readonly FileId[]) => ({
  type: 'message-added' as const,
  messageId: parseMessageId(messageId),
  role: 'user' as const,
  parts: ids.map((id) => ({ type: 'file' as const, mediaType: 'image/png', url: toFileUrl(id) })),
  at,
})

const later = { before: at + 1, limit: 10 }

export const fileRules: readonly StoreRule[] = [
  {
    id: 'FL1',
    claim:
      'knows a file from the moment on at which all of it is there, whole and to its owner alone',
    check: ({ open }) =>
      withFiles(open, async (files) => {
        const plain = fileOf('1')
        await files.begin({ id: plain.id, ownerId: ana, at })
        assert.equal(await files.read(plain.id), null)
        assert.deepEqual(await files.reserve([plain.id], ana, at), [])
        assert.equal(await files.finish(plain, most), 'ready')
        assert.deepEqual(await files.read(plain.id), plain)
        const named = fileOf('2', { filename: 'Größe 😀.png', width: 3, height: 4, bytes: 0 })
        await add(files, named)
        assert.deepEqual(await files.read(named.id), named)
        const both = await files.reserve([plain.id, named.id, idOf('9')], ana, at)
        assert.deepEqual(both.map(({ id }) => id).toSorted(), [plain.id, named.id])
        assert.deepEqual(await files.reserve([plain.id], ben, at), [])
      }),
  },
  {
    id: 'FL1',
    claim: 'lets no owner have more bytes than they may, and counts each by themselves',
    check: ({ open }) =>
      withFiles(open, async (files) => {
        await add(files, fileOf('1', { bytes: 600 }))
        const second = fileOf('2', { bytes: 401 })
        await files.begin({ id: second.id, ownerId: ana, at })
        assert.equal(await files.finish(second, most), 'over-limit')
        assert.equal(await files.read(second.id), null)
        assert.equal(await files.ownerBytes(ana), 600)
        await add(files, fileOf('3', { ownerId: ben, bytes: 1_000 }))
        await add(files, fileOf('4', { bytes: 400 }))
        assert.equal(await files.ownerBytes(ana), 1_000)
      }),
  },
  {
    id: 'FL1',
    claim: 'says so when a file was collected before all of it had come',
    check: ({ open }) =>
      withFiles(open, async (files) => {
        const [claimed, forgotten] = ['1', '2'].map((digit) => fileOf(digit))
        assert.ok(claimed && forgotten)
        for (const { id } of [claimed, forgotten]) await files.begin({ id, ownerId: ana, at })
        await files.claimUnused(later)
        await files.forget([forgotten.id])
        assert.equal(await files.finish(claimed, most), 'gone')
        assert.equal(await files.finish(forgotten, most), 'gone')
        assert.equal(await files.read(claimed.id), null)
        assert.deepEqual(await files.claimUnused(later), [claimed.id])
      }),
  },
  {
    id: 'FL2',
    claim: 'collects what nothing names and nobody has reserved, and never what a message names',
    check: ({ open }) =>
      withFiles(open, async (files, store) => {
        const [named, unused, reserved, half] = ['1', '2', '3', '4'].map((digit) => fileOf(digit))
        assert.ok(named && unused && reserved && half)
        for (const file of [named, unused, reserved]) await add(files, file)
        await files.begin({ id: half.id, ownerId: ana, at })
        await createThread(store)
        await append(store, [naming('m', named.id)])
        await files.reserve([reserved.id], ana, at + 1_000)
        assert.deepEqual((await files.claimUnused(later)).toSorted(), [unused.id, half.id])
        assert.equal(await files.read(unused.id), null)
        assert.deepEqual(await files.reserve([unused.id], ana, at + 2_000), [])
        // Until it is said that they are gone they are told again: whoever removed them may have died.
        assert.deepEqual((await files.claimUnused(later)).toSorted(), [unused.id, half.id])
        await files.forget([unused.id, half.id, named.id])
        assert.deepEqual(await files.claimUnused(later), [])
        assert.deepEqual(await files.read(named.id), named)
        assert.deepEqual(await files.read(reserved.id), reserved)
      }),
  },
  {
    id: 'FL2',
    claim:
      'leaves over what only a deleted thread named, at once, and keeps what another one names',
    check: ({ open }) =>
      withFiles(open, async (files, store) => {
        const [own, shared, made] = ['1', '2', '3'].map((digit) => fileOf(digit))
        assert.ok(own && shared && made)
        for (const file of [own, shared, made]) await add(files, file)
        await createThread(store)
        const other = await createThread(store, parseThreadId('other'))
        await append(store, [naming('m', own.id, shared.id)])
        await append(store, [naming('m', shared.id)], { threadId: other })
        await files.name(parseThreadId('thread'), [made.id])
        const never = { before: 1, limit: 10 }
        assert.deepEqual(await files.claimUnused(never), [])
        await store.deleteThread(parseThreadId('thread'))
        assert.deepEqual((await files.claimUnused(never)).toSorted(), [own.id, made.id])
        await files.forget([own.id, made.id])
        await store.deleteThread(other)
        assert.deepEqual(await files.claimUnused({ ...never, ownerId: ben }), [])
        assert.deepEqual(await files.claimUnused({ ...never, ownerId: ana }), [shared.id])
      }),
  },
  {
    id: 'FL2',
    claim: 'keeps what is reserved when the thread that named it is deleted',
    check: ({ open }) =>
      withFiles(open, async (files, store) => {
        const file = await add(files, fileOf('1'))
        await createThread(store)
        await files.reserve([file.id], ana, at)
        await append(store, [naming('m', file.id)])
        // Somebody is about to name it elsewhere.
        await files.reserve([file.id], ana, at + 1_000)
        await store.deleteThread(parseThreadId('thread'))
        assert.deepEqual(await files.claimUnused(later), [])
        const other = await createThread(store, parseThreadId('other'))
        await append(store, [naming('m', file.id)], { threadId: other })
        assert.deepEqual(await files.read(file.id), file)
        await store.deleteThread(other)
        assert.deepEqual(await files.claimUnused({ before: 1, limit: 10 }), [file.id])
      }),
  },
  {
    id: 'FL2',
    claim: 'names nothing for a message that is refused',
    check: ({ open }) =>
      withFiles(open, async (files, store) => {
        const file = await add(files, fileOf('1'))
        await createThread(store)
        const refused = await tryAppend(store, [naming('m', file.id)], { expectedSeq: 7 })
        assert.equal(refused.kind, 'stale')
        assert.deepEqual(await files.claimUnused(later), [file.id])
      }),
  },
]
