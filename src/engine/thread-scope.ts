import { HoldfastError } from '../core/holdfast-error.ts'
import { type OwnerId, parseOwnerId, parseStoredThreadId } from '../core/ids.ts'
import { longestTitle, type ThreadRecord } from '../core/thread.ts'
import type { Store } from '../store/store.ts'
import { checkNames } from './options/check-names.ts'

/** The owner that a thread must belong to: another owner's thread is treated as not existing (HT2). */
export interface ThreadScope {
  /** @default any owner: the caller is responsible for access control */
  readonly ownerId?: string
}

export const isOther = (ownerId: string, wanted: string | undefined): boolean =>
  wanted !== undefined && wanted !== ownerId

/** The owner of the scope, validated. */
export function ownerIn(scope: ThreadScope): OwnerId | undefined {
  checkNames('The scope of a thread', scope, ['ownerId'])
  return scope.ownerId === undefined ? undefined : parseOwnerId(scope.ownerId)
}

/** The thread, if it exists and is in scope. */
export async function findThread(
  store: Store,
  threadId: string,
  scope: ThreadScope = {},
): Promise<ThreadRecord | null> {
  const ownerId = ownerIn(scope)
  const thread = await store.readThread(parseStoredThreadId(threadId))
  return thread === null || isOther(thread.ownerId, ownerId) ? null : thread
}

export function parseTitle(value: unknown): string {
  if (typeof value !== 'string' || value.length > longestTitle) {
    throw new HoldfastError(
      'bad-request',
      `"title" is a text of at most ${longestTitle} characters.`,
    )
  }
  // Characters that a database cannot store are replaced here, or the first response would differ from every later one
  // (LG5).
  return value.toWellFormed().replaceAll('\u0000', '\uFFFD')
}
