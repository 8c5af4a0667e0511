import assert from 'node:assert/strict'
import type { NewEvent } from '../../core/event.ts'
import { type FileId, type FileRecord, toFileUrl } from '../../core/file.ts'
import { parseMessageId, parseThreadId } from '../../core/ids.ts'
import type { FileRecords } from '../../store/file-records.ts'
import type { Store } from '../../store/store.ts'
import type { StoreRule } from './store-rule.ts'
import {
  ana,
  append,
  at,
  begun,
  ben,
  call,
  createThread,
  ended,
  recorded,
  started,
  succeeded,
  text,
  tryAppend,
  turn,
  turnEvent,
} from './thread-script.ts'

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

/** Skips a store that keeps no files. */
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
    claim: 'returns a file once it is complete, and to its owner alone',
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
    claim: 'limits the bytes of each owner, counted by themselves',
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
    claim: 'reports a file that was collected before its upload ended',
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
    claim:
      'collects files without a reference or a reservation, and never one that a message refers to',
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
        // They are returned again until they are forgotten: the process that was removing them may have died.
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
      'collects the files of a deleted thread at once, and keeps those that another thread refers to',
    check: ({ open }) =>
      withFiles(open, async (files, store) => {
        const [own, shared] = [await add(files, fileOf('1')), await add(files, fileOf('2'))]
        await createThread(store)
        const other = await createThread(store, parseThreadId('other'))
        await append(store, [naming('m', own.id, shared.id)])
        await append(store, [naming('m', shared.id)], { threadId: other })
        const never = { before: 1, limit: 10 }
        assert.deepEqual(await files.claimUnused(never), [])
        await store.deleteThread(parseThreadId('thread'))
        assert.deepEqual(await files.claimUnused(never), [own.id])
        await files.forget([own.id])
        await store.deleteThread(other)
        assert.deepEqual(await files.claimUnused({ ...never, ownerId: ben }), [])
        assert.deepEqual(await files.claimUnused({ ...never, ownerId: ana }), [shared.id])
      }),
  },
  {
    id: 'FL2',
    claim: 'keeps a reserved file when the thread that referred to it is deleted',
    check: ({ open }) =>
      withFiles(open, async (files, store) => {
        const file = await add(files, fileOf('1'))
        await createThread(store)
        await files.reserve([file.id], ana, at)
        await append(store, [naming('m', file.id)])
        // A message in another thread is about to refer to it.
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
    claim: 'records no reference for a message that is refused',
    check: ({ open }) =>
      withFiles(open, async (files, store) => {
        const file = await add(files, fileOf('1'))
        await createThread(store)
        const refused = await tryAppend(store, [naming('m', file.id)], { expectedSeq: 7 })
        assert.equal(refused.kind, 'stale')
        assert.deepEqual(await files.claimUnused(later), [file.id])
      }),
  },
  {
    id: 'FL2',
    claim: 'lets no thread of another owner use, keep or release a file',
    check: ({ open }) =>
      withFiles(open, async (files, store) => {
        const [sent, unsent] = [await add(files, fileOf('1')), await add(files, fileOf('2'))]
        await createThread(store)
        await append(store, [naming('m', sent.id)])
        const bens = parseThreadId('bens')
        await store.createThread({ id: bens, ownerId: ben, title: '', at })
        await append(store, [naming('m', sent.id, unsent.id)], { threadId: bens })
        // The reservation of the upload is not ended by it.
        const never = { before: 1, limit: 10 }
        assert.deepEqual(await files.claimUnused(never), [])
        await store.deleteThread(bens)
        assert.deepEqual(await files.claimUnused(never), [])
        const again = parseThreadId('bens-again')
        const create = { ownerId: ben, title: '', at }
        await append(store, [naming('m', sent.id)], { threadId: again, create, expectedSeq: 0 })
        await store.deleteThread(parseThreadId('thread'))
        assert.deepEqual(await files.claimUnused(never), [sent.id])
      }),
  },
  {
    id: 'FL2',
    claim:
      'keeps the files of an answer: its parts, its data, the arguments and results of its calls',
    check: ({ open }) =>
      withFiles(open, async (files, store) => {
        const [item, data, argument, result, words] = ['1', '2', '3', '4', '5'].map((digit) =>
          fileOf(digit),
        )
        assert.ok(item && data && argument && result && words)
        for (const file of [item, data, argument, result, words]) await add(files, file)
        await createThread(store)
        const added = { type: 'file', url: toFileUrl(item.id), mediaType: 'image/png' } as const
        const card = { type: 'data', name: 'card', data: [{ at: toFileUrl(data.id) }] } as const
        await append(store, [
          started(),
          turnEvent({ type: 'step-started', step: 0 }),
          ...text(`It is at ${toFileUrl(words.id)}`),
          turnEvent({ type: 'item-added', item: added }),
          turnEvent({ type: 'item-added', item: card }),
          recorded(call, { input: { of: `/base${toFileUrl(argument.id)}` } }),
          begun(),
        ])
        await append(store, [
          succeeded({ images: [toFileUrl(result.id)], note: `See ${toFileUrl(words.id)}` }),
          turnEvent({ type: 'step-ended', finishReason: 'stop' }),
          ended(),
        ])
        assert.deepEqual(await files.claimUnused(later), [words.id])
        await files.forget([words.id])
        // A copy in another thread keeps them too.
        const read = await store.readMessage(parseThreadId('thread'), turn)
        assert.ok(read?.role === 'assistant' && read.progress.status === 'ended')
        const { replyTo, steps, unreadable, progress } = read
        const other = await createThread(store, parseThreadId('other'))
        const copied = {
          type: 'turn-copied',
          turn: { replyTo, steps, unreadable, progress },
        } as const
        await append(store, [turnEvent(copied, parseMessageId('copy'))], { threadId: other })
        const never = { before: 1, limit: 10 }
        await store.deleteThread(parseThreadId('thread'))
        assert.deepEqual(await files.claimUnused(never), [])
        await store.deleteThread(other)
        const kept = [item.id, data.id, argument.id, result.id]
        assert.deepEqual((await files.claimUnused(never)).toSorted(), kept)
      }),
  },
  {
    id: 'FL2',
    claim:
      'releases the files of a queued input that is withdrawn or edited, and keeps those that a message refers to',
    check: ({ open }) =>
      withFiles(open, async (files, store) => {
        const [edited, withdrawn, answered, named] = ['1', '2', '3', '4'].map((digit) =>
          fileOf(digit),
        )
        assert.ok(edited && withdrawn && answered && named)
        for (const file of [edited, withdrawn, answered, named]) await add(files, file)
        await createThread(store)
        await append(store, [naming('m', named.id)])
        const { parts } = naming('q', edited.id, named.id)
        const other = naming('r', withdrawn.id, named.id)
        const queueOf = async () => (await store.readThread(parseThreadId('thread')))?.queue ?? []
        const write = async (...events: readonly NewEvent[]) =>
          append(store, events, { queue: await queueOf() })
        const input = (id: string, of: typeof parts) =>
          ({ type: 'input-queued', input: { id, mode: 'queue', parts: of }, at }) as const
        await write(input('q', parts), input('r', other.parts))
        const much = { before: Number.MAX_SAFE_INTEGER, limit: 10 }
        assert.deepEqual(
          [await files.claimUnused({ before: 1, limit: 10 }), (await queueOf()).length],
          [[], 2],
        )
        const now = naming('q', answered.id, named.id).parts
        await write({ type: 'input-revised', messageId: 'q', parts: now, at: at + 5 })
        await write({ type: 'input-withdrawn', messageId: 'r', at: at + 6 })
        // Not at once: the person may be about to send it again.
        assert.deepEqual(await files.claimUnused({ before: at + 5, limit: 10 }), [])
        assert.deepEqual(await files.claimUnused({ before: at + 6, limit: 10 }), [edited.id])
        await write({ ...naming('q', answered.id, named.id) })
        assert.deepEqual(await queueOf(), [])
        assert.deepEqual((await files.claimUnused(much)).toSorted(), [edited.id, withdrawn.id])
      }),
  },
  {
    id: 'FL2',
    claim: 'keeps a file of a withdrawn input if a message refers to it since',
    check: ({ open }) =>
      withFiles(open, async (files, store) => {
        const file = fileOf('1')
        await add(files, file)
        await createThread(store)
        const { parts } = naming('q', file.id)
        const queueOf = async () => (await store.readThread(parseThreadId('thread')))?.queue ?? []
        const write = async (event: NewEvent) => append(store, [event], { queue: await queueOf() })
        const input = { id: 'q', mode: 'queue', parts } as const
        await write({ type: 'input-queued', input, at })
        await write(naming('m', file.id, file.id))
        await write({ type: 'input-withdrawn', messageId: 'q', at })
        assert.deepEqual(await queueOf(), [])
        const much = { before: Number.MAX_SAFE_INTEGER, limit: 10 }
        assert.deepEqual(await files.claimUnused(much), [])
      }),
  },
]
