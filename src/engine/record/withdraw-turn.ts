import type { NewThreadEvent, NumberedEvent } from '../../core/event.ts'
import type { ThreadId } from '../../core/ids.ts'
import type { MessageVersion } from '../../core/versions.ts'
import type { Store } from '../../store/store.ts'
import type { VersionPath } from '../../store/version-path.ts'
import type { Engine } from '../engine.ts'
import type { SendRequest } from '../input/send.ts'
import { readLatest } from '../threads/read-latest.ts'
import { retryInLine } from '../threads/writers-in-line.ts'

/**
 * Undoes the commit that began a recorded turn: its messages are withdrawn, and what they replaced is shown again. A thread
 * that was created for them is deleted.
 */
export async function withdrawTurn(
  engine: Engine,
  { threadId, create }: Pick<SendRequest, 'threadId' | 'create'>,
  stored: readonly NumberedEvent[],
): Promise<void> {
  const { store, clock, append } = engine
  const isWithdrawn = await retryInLine(engine, threadId, async () => {
    const path = await readWithdrawal(store, threadId, stored)
    if (path === null) return false
    const { hide, show, seq: expectedSeq, incarnation } = path
    // With their versions, which lose them in this commit (VR1).
    const read = await Promise.all(hide.map(({ id }) => store.readMessage(threadId, id, 'lazy')))
    const withdrawn = read.filter((message) => message !== null)
    const at = clock.now()
    const events: NewThreadEvent[] = [
      { type: 'messages-retired', at, messageIds: hide.map(({ id }) => id) },
    ]
    // In the same commit, or a reader in between would find the thread without what was to be replaced.
    if (show.length > 0) {
      events.push({ type: 'messages-shown', at, places: show.map(({ seq }) => seq) })
    }
    const { kind } = await append({ threadId, events, expectedSeq, incarnation, withdrawn })
    return kind === 'stale' ? kind : kind === 'appended'
  })
  if (!isWithdrawn || create === undefined) return
  const latest = await readLatest(store, threadId, 'lazy')
  if (latest === null || latest.last !== undefined) return
  // As it was read: a message that was accepted since must not be deleted with it.
  const { seq: expectedSeq, incarnation } = latest
  await store.deleteThread(threadId, { expectedSeq, incarnation })
}

/**
 * What has to be hidden and what shown. Null: the messages of the commit are not shown any more; or they replaced others and
 * new ones follow them, which would be shown behind a path that they do not belong to.
 */
async function readWithdrawal(
  store: Store,
  threadId: ThreadId,
  stored: readonly NumberedEvent[],
): Promise<VersionPath | null> {
  // Without the message whose answer was regenerated: it was there before.
  const own = stored.flatMap(addedBy)
  const [replaced] = stored.flatMap(firstHiddenBy)
  const target = replaced ?? own.at(-1)
  if (target === undefined) return null
  const path = await store.readPath(threadId, `${target.id}@${target.seq}`)
  if (path === null) return null
  if (replaced === undefined) return path.show.length === 0 ? { ...path, hide: own } : null
  const isSame = path.hide.length === own.length && own.every(isAt(path.hide))
  return isSame ? path : null
}

const addedBy = (event: NumberedEvent): readonly MessageVersion[] => {
  const { type, seq } = event
  if (type === 'message-added') return [{ id: event.messageId, seq }]
  return type === 'turn-started' ? [{ id: event.turnId, seq }] : []
}

const firstHiddenBy = (event: NumberedEvent): readonly MessageVersion[] => {
  if (event.type !== 'messages-retired') return []
  const [id] = event.messageIds
  const seq = event.kept?.places[0]
  return id === undefined || seq === undefined ? [] : [{ id, seq }]
}

const isAt =
  (list: readonly MessageVersion[]) =>
  ({ id, seq }: MessageVersion, nth: number): boolean =>
    list[nth]?.id === id && list[nth].seq === seq
