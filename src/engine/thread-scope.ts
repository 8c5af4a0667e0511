import { HoldfastError } from '../core/holdfast-error.ts'
import {
  type CallId,
  type OwnerId,
  parseOwnerId,
  parseThreadId,
  type ThreadId,
} from '../core/ids.ts'
import { longestTitle, type ThreadRecord } from '../core/thread.ts'
import type { FoundCall, Store } from '../store/store.ts'
import { checkNames } from './check-names.ts'

/** Whose thread it has to be: another owner's is as if it were not there (HT2). */
export interface ThreadScope {
  /** @default anybody's: the caller answers for who may ask */
  readonly ownerId?: string
}

export const isOther = (ownerId: string, wanted: string | undefined): boolean =>
  wanted !== undefined && wanted !== ownerId

/** Whose it has to be, checked. */
export function ownerIn(scope: ThreadScope): OwnerId | undefined {
  checkNames('The scope of a thread', scope, ['ownerId'])
  return scope.ownerId === undefined ? undefined : parseOwnerId(scope.ownerId)
}

/** The thread, if it is there and in scope. */
export async function findThread(
  store: Store,
  threadId: string,
  scope: ThreadScope = {},
): Promise<ThreadRecord | null> {
  const ownerId = ownerIn(scope)
  const thread = await store.readThread(parseThreadId(threadId))
  return thread === null || isOther(thread.ownerId, ownerId) ? null : thread
}

/** The call with its turn, if it is there and its thread is in scope. One read: whose it is comes with what it is. */
export async function findOwnCall(
  store: Store,
  threadId: ThreadId,
  callId: CallId,
  ownerId: OwnerId | undefined,
): Promise<FoundCall | null> {
  const found = await store.readCall(threadId, callId)
  return ownerId !== undefined && found?.ownerId !== ownerId ? null : found
}

export function parseTitle(value: unknown): string {
  if (typeof value !== 'string' || value.length > longestTitle) {
    throw new HoldfastError(
      'bad-request',
      `"title" is a text of at most ${longestTitle} characters.`,
    )
  }
  // What a database cannot keep is replaced here, or the first answer would differ from every later one (LG5).
  return value.toWellFormed().replaceAll('\u0000', '\uFFFD')
}
