import type { DatabaseSync } from 'node:sqlite'
import type { CallId, MessageId, OwnerId, Seq, ThreadId } from '../../core/ids.ts'
import type { CallLifecycle } from '../../core/lifecycle.ts'
import type { TurnStatus } from '../../core/message.ts'
import type { ThreadHead } from '../lease.ts'
import type { ListedThreadRow, StoredThreadRow } from '../thread-row.ts'
import type { StoredCallRow, ThreadRow } from '../ledger-rows.ts'
import type { StoredCall } from '../turn-snapshot.ts'
import type { PathRow } from '../version-path.ts'
import { prepareFileStatements } from './file-records.ts'
import { ledgerSql as sql } from './ledger-sql.ts'
import { prepareOn, type ThreadKey, type ThreadKeyRow } from './prepared-statement.ts'
import { prepareSearchStatements } from './search-sql.ts'
import { prepareShareStatements } from './share-records.ts'

type InThread = [thread: ThreadKey]
/** Everything of a thread from a seq on. By name: Node 22.13 cannot bind `?1` twice. */
type ThreadEnd = { readonly thread: ThreadKey; readonly from: Seq }
type AtPlace = [thread: ThreadKey, seq: Seq]
type ById = [thread: ThreadKey, messageId: MessageId]
type OfCall = [thread: ThreadKey, callId: CallId]

/** The row of a thread that is not published yet. */
interface StagedRow {
  readonly thread: ThreadKey
  readonly title: string
  readonly at: number
  readonly updatedAt: number
  readonly seq: Seq
  readonly incarnation: string
  readonly mark: string
  readonly forkedFrom: string | null
  readonly titleNote: string | null
}

export type LedgerStatements = ReturnType<typeof prepareLedgerStatements>

/** Prepared once, for as long as the store is open. */
export function prepareLedgerStatements(db: DatabaseSync) {
  const prepare = prepareOn(db)
  return {
    /** Of texts that are read as their bytes: those of a file that somebody made in UTF-16 are in UTF-16. */
    textDecoder: new TextDecoder(String(db.prepare('PRAGMA encoding').get()?.['encoding'])),
    search: prepareSearchStatements(db),
    shares: prepareShareStatements(db),
    readThread: prepare<[ThreadId], StoredThreadRow>(sql.readThread),
    readLedgerThread: prepare<[ThreadId], LedgerThreadRecord>(sql.readLedgerThread),
    readKey: prepare<[ThreadId], ThreadKeyRow>(sql.readKey),
    listThreads: prepare<[OwnerId, before: number, limit: number], ListedThreadRow>(
      sql.listThreads,
    ),
    listByArchive: prepare<
      [OwnerId, archived: number, before: number, limit: number],
      ListedThreadRow
    >(sql.listByArchive),
    listPinned: prepare<
      [OwnerId, archived: number, before: number, limit: number],
      ListedThreadRow
    >(sql.listPinned),
    readCounter: prepare<[], { last: number }>(sql.readCounter),
    readLeast: prepare<[], { least: number }>(sql.readLeast),
    raiseCounter: prepare<[least: number]>(sql.raiseCounter),
    findChanged: prepare<[after: number], ChangedRow>(sql.findChanged),

    setMetadata: prepare<{ id: ThreadId; from: string; to: string }>(sql.setMetadata),
    insertThread: prepare<{
      id: ThreadId
      ownerId: OwnerId
      title: string
      at: number
      updatedAt: number
      seq: Seq
      counter: number
      fence: number
      holder: string | null
      turnId: MessageId | null
      until: number | null
      incarnation: string
      mark: string
      titleNote: string | null
    }>(sql.insertThread),
    deleteThread: prepare<InThread>(sql.deleteThread),
    insertHidden: prepare<{ thread: ThreadKey; id: string; counter: number }>(sql.insertHidden),
    findStaged: prepare<[before: number], { thread: ThreadKey }>(sql.findStaged),
    readStaged: prepare<[ThreadId], StagedRow>(sql.readStaged),
    insertPublished: prepare<
      { [Name in keyof StagedRow]: StagedRow[Name] } & {
        id: ThreadId
        ownerId: OwnerId
        counter: number
      }
    >(sql.insertPublished),
    findHidden: prepare<[], { thread: ThreadKey }>(sql.findHidden),
    isHidden: prepare<InThread>(sql.isHidden),
    countMessages: prepare<InThread, { count: number }>(sql.countMessages),
    deleteSomeMessages: prepare<ThreadEnd>(sql.deleteSomeMessages),
    deleteSomeEvents: prepare<ThreadEnd>(sql.deleteSomeEvents),
    deleteSomeCalls: prepare<ThreadEnd>(sql.deleteSomeCalls),
    deleteHidden: prepare<InThread>(sql.deleteHidden),
    addInput: prepare<[...ById, turnId: MessageId | null]>(sql.addInput),
    findInput: prepare<ById, { turnId: MessageId | null }>(sql.findInput),
    deleteInputs: prepare<InThread>(sql.deleteInputs),
    deleteInputsFrom: prepare<ThreadEnd>(sql.deleteInputsFrom),
    advanceThread: prepare<[Seq, changed: number, mark: string, ...InThread]>(sql.advanceThread),
    changeThread: prepare<{
      thread: ThreadKey
      seq: Seq
      counter: number
      activity: number | null
      activityAt: number | null
      fence: number
      holder: string | null
      turnId: MessageId | null
      until: number | null
      stopFence: number | null
      mark: string | null
    }>(sql.changeThread),
    renameThread: prepare<[title: string, note: string | null, ...InThread]>(sql.renameThread),
    setFlags: prepare<{ thread: ThreadKey; pinned: number | null; archived: number | null }>(
      sql.setFlags,
    ),
    setQueue: prepare<[queue: string, ...InThread]>(sql.setQueue),
    setFork: prepare<[from: string | null, ...InThread]>(sql.setFork),

    renewLease: prepare<[until: number | null, ...InThread]>(sql.renewLease),
    requestStop: prepare<[changed: number, ...InThread]>(sql.requestStop),
    readHead: prepare<[ThreadId], HeadRow>(sql.readHead),
    findLeases: prepare<[], HeldLeaseRow>(sql.findLeases),
    findLease: prepare<[ThreadId], HeldLeaseRow>(sql.findLease),

    insertMessage: prepare<
      [
        thread: ThreadKey,
        seq: Seq,
        messageId: MessageId,
        role: string,
        status: TurnStatus | null,
        isSnapshot: 0 | 1,
        bodySeq: Seq | null,
        commitSeq: Seq,
        createdAt: number,
        body: string | null,
        retiredSeq: Seq | null,
        mark: string,
        parentSeq: Seq | null,
        versions: string | null,
      ]
    >(sql.insertMessage),
    setStatus: prepare<[TurnStatus, ...AtPlace]>(sql.setStatus),
    retireMessage: prepare<[Seq, parent: Seq | null, ...ById]>(sql.retireMessage),
    retireMessageAt: prepare<[Seq, parent: Seq | null, ...AtPlace, MessageId]>(sql.retireMessageAt),
    showMessage: prepare<AtPlace>(sql.showMessage),
    setVersions: prepare<[versions: string | null, ...AtPlace]>(sql.setVersions),
    readPathAt: prepare<AtPlace, PathRow>(sql.readPathAt),
    readPathById: prepare<ById, PathRow>(sql.readPathById),
    readLastHidden: prepare<AtPlace, PathRow>(sql.readLastHidden),
    readShownAfter: prepare<[...AtPlace, limit: number], PathRow>(sql.readShownAfter),
    snapshotTurn: prepare<[body: string, bodySeq: Seq, commitSeq: Seq, mark: string, ...AtPlace]>(
      sql.snapshotTurn,
    ),
    readPlaces: prepare<[ThreadKey, before: Seq, limit: number], { seq: Seq }>(sql.readPlaces),
    readPlacesUpward: prepare<[ThreadKey, after: Seq, limit: number], { seq: Seq }>(
      sql.readPlacesUpward,
    ),
    findRunning: prepare<InThread, { seq: Seq; messageId: MessageId }>(sql.findRunning),
    readMessages: prepare<[ThreadKey, first: Seq, last: Seq], MessageRecord>(sql.readMessages),
    readMessage: prepare<ById, MessageRecord>(sql.readMessage),
    readMessageAt: prepare<AtPlace, MessageRecord>(sql.readMessageAt),
    readMessageId: prepare<AtPlace, { messageId: MessageId }>(sql.readMessageId),
    findTurn: prepare<
      [MessageId],
      MessageRecord & {
        thread: ThreadKey
        threadId: ThreadId
        ownerId: OwnerId
        threadSeq: Seq
        incarnation: string
        threadMark: string
        queue: string
      }
    >(sql.findTurn),
    readBodies: prepare<[ThreadKey, after: Seq, limit: number], MessageRecord>(sql.readBodies),

    readPlaceBatch: prepare<AtPlace, { seq: Seq; size: number; mark: string }>(sql.readPlaceBatch),
    readPlaceBody: prepare<AtPlace, { mark: string }>(sql.readPlaceBody),
    readPlaceMessage: prepare<
      AtPlace,
      { id: MessageId; seq: Seq; bodySeq: Seq | null; mark: string }
    >(sql.readPlaceMessage),

    insertBatch: prepare<
      [
        thread: ThreadKey,
        seq: Seq,
        size: number,
        commitSeq: Seq,
        turn: Seq | null,
        at: number,
        payload: string,
        mark: string,
      ]
    >(sql.insertBatch),
    readBatches: prepare<[ThreadKey, after: Seq], BatchRecord>(sql.readBatches),
    readTurnBatches: prepare<{ thread: ThreadKey; turn: Seq }, BatchRecord>(sql.readTurnBatches),
    deleteTurnBatches: prepare<{ thread: ThreadKey; turn: Seq; last: Seq }>(sql.deleteTurnBatches),

    readCallTurn: prepare<OfCall, { turn: Seq }>(sql.readCallTurn),
    insertCall: prepare<CallValues>(sql.insertCall),
    upsertCall: prepare<CallValues>(sql.upsertCall),
    ...prepareFileStatements(db),

    readCalls: prepare<
      { most: number; thread: ThreadKey; turn: Seq; turnId: MessageId },
      StoredCallRow
    >(sql.readCalls),
    readCall: prepare<{ most: number; thread: ThreadKey; callId: CallId }, StoredCall>(
      sql.readCall,
    ),
  }
}

type CallValues = [
  thread: ThreadKey,
  callId: CallId,
  turn: Seq,
  seq: Seq,
  name: string,
  lifecycle: CallLifecycle,
  input: string | null,
  output: string | null,
  modelOutput: string | null,
]

/** The columns that an append is compared with. */
export interface HeadRow extends ThreadHead {
  readonly thread: ThreadKey
  readonly hasQueue: 0 | 1
}

/** The columns of a thread that reads of its content need. */
export interface LedgerThreadRecord extends Pick<
  ThreadRow,
  'threadId' | 'ownerId' | 'seq' | 'incarnation' | 'mark' | 'queue'
> {
  readonly thread: ThreadKey
}

export interface HeldLeaseRow {
  readonly threadId: ThreadId
  readonly fence: number
  readonly holder: string
  readonly turnId: MessageId
  readonly until: number
}

export interface ChangedRow {
  readonly id: ThreadId
  readonly seq: Seq
  readonly isStopping: 0 | 1
}

export interface MessageRecord {
  readonly seq: Seq
  readonly messageId: MessageId
  readonly role: 'user' | 'system' | 'assistant'
  readonly status: TurnStatus | null
  /** 0: there are events that are not in the body. */
  readonly isSnapshot: 0 | 1
  readonly bodySeq: Seq | null
  readonly commitSeq: Seq
  readonly mark: string
  readonly createdAt: number
  /** JSON text, a long one as its bytes. */
  readonly body: string | Uint8Array | null
  /** JSON text. */
  readonly versions: string | null
}

/** Events of one commit: see `EventBatch`. */
export interface BatchRecord {
  readonly seq: Seq
  readonly size: number
  readonly commitSeq: Seq
  readonly mark: string
  /** The seq of the turn that it belongs to; null for events of the thread itself. */
  readonly turn: Seq | null
  readonly at: number
  readonly payload: string
}
