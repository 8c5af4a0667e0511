import { HoldfastError } from '../core/holdfast-error.ts'
import { parseThreadId, type ThreadId } from '../core/ids.ts'
import type { ThreadRecord } from '../core/thread.ts'
import type { Holdfast } from '../engine/create-holdfast.ts'
import { ApiError } from '../protocol/api-error.ts'
import { type BodyBytes, createBodyBytes } from './body-bytes.ts'
import { createFairReads, type FairReads } from './fair-reads.ts'
import { badRequest, notFound } from './http-error.ts'
import { createInFlight, type InFlight } from './in-flight.ts'
import { defaultLimits, type HandlerOptions, type Limits } from './handler-options.ts'
import { createLargeImports, type LargeImports } from './large-imports.ts'
import { mountOf } from './mount-path.ts'
import type { RouteRequest } from './router.ts'
import { createSavingWatch, type SavingWatch } from './saving-watch.ts'

/** What every route uses. */
export interface ServerContext {
  readonly holdfast: Holdfast
  readonly limits: Limits
  /** Whether there are several owners, so that one must not claim an id that another would use. */
  readonly hasOwners: boolean
  readonly keepAliveMs: number
  /** Whether owners can see and set the metadata of their threads. */
  readonly threadMetadata: 'hidden' | 'read' | 'write'
  /** Whether owners may share their threads with anybody who has a link. */
  readonly sharing: boolean
  readonly followers: OwnerCounter
  readonly runs: OwnerCounter
  /** Imports and forks. */
  readonly jobs: OwnerCounter
  /** Imports with large bodies, from the moment that the body is known to be large. */
  readonly largeImports: LargeImports
  /** Uploads and downloads of files. */
  readonly transfers: OwnerCounter
  readonly saving: SavingWatch
  /** Bodies of requests, but for those of imports, of which few are large at once, and of files, which are never held whole. */
  readonly bodies: BodyBytes
  readonly inFlight: InFlight
  /** Reads that may be large are scheduled by this. */
  readonly reads: FairReads
}

export function createServerContext(holdfast: Holdfast, options: HandlerOptions): ServerContext {
  const limits = { ...defaultLimits, ...options.limits }
  const inFlight = createInFlight(limits, () => reads.wake())
  const reads = createFairReads(inFlight.hasRoom)
  return {
    holdfast,
    limits,
    hasOwners: options.authenticate !== undefined,
    keepAliveMs: options.keepAliveMs ?? 15_000,
    threadMetadata: options.threadMetadata ?? 'hidden',
    sharing: options.sharing ?? options.authenticate === undefined,
    followers: createOwnerCounter(limits.followersPerOwner, 'streams', limits.followers),
    runs: createOwnerCounter(limits.runsPerOwner, 'runs'),
    jobs: createOwnerCounter(limits.jobsPerOwner, 'imports or forks', limits.jobs),
    largeImports: createLargeImports(holdfast.clock),
    transfers: createOwnerCounter(limits.transfersPerOwner, 'files', limits.transfers),
    saving: createSavingWatch(holdfast),
    bodies: createBodyBytes(limits),
    inFlight,
    reads,
  }
}

/**
 * The `basePath` option, or else where a framework has mounted the handler: at the path before `/api`, or at `/api`
 * itself, as in `app.use('/api', …)`.
 */
export function basePathOf(request: Request, url: URL, { basePath }: HandlerOptions): string {
  if (basePath !== undefined) return basePath
  const mount = mountOf(request) ?? ''
  const isAtApi = mount.endsWith('/api') && !url.pathname.startsWith(`${mount}/api/`)
  return isAtApi ? mount.slice(0, -'/api'.length) : mount
}

/** Counts what each owner has open in this process. */
export interface OwnerCounter {
  /** Refuses with 429 over the limit; the returned function releases the slot, once. */
  acquire(ownerId: string): () => void
}

function createOwnerCounter(
  limit: number,
  what: string,
  ofAll = Number.POSITIVE_INFINITY,
): OwnerCounter {
  const counts = new Map<string, number>()
  let total = 0
  return {
    acquire(ownerId) {
      const count = counts.get(ownerId) ?? 0
      if (count >= limit) {
        throw new ApiError(429, 'too-many', `You have ${count} ${what} open, which is the most.`)
      }
      if (total >= ofAll) {
        throw new ApiError(429, 'too-many', `${total} ${what} are open here, which is the most.`)
      }
      counts.set(ownerId, count + 1)
      total++
      let given = false
      return () => {
        if (given) return
        given = true
        total--
        const left = (counts.get(ownerId) ?? 1) - 1
        if (left === 0) counts.delete(ownerId)
        else counts.set(ownerId, left)
      }
    },
  }
}

/** The id in the path, whoever owns the thread. */
export const threadOf = ({ params }: RouteRequest): ThreadId => parseThreadId(params['id'])

/** The thread of a request, if it belongs to the caller; any other is treated as not existing (HT2). */
export async function readOwnThread(
  context: ServerContext,
  request: RouteRequest,
): Promise<ThreadRecord> {
  return readOwned(context, request, threadOf(request))
}

export async function readOwned(
  { holdfast }: ServerContext,
  { ownerId }: RouteRequest,
  id: ThreadId,
): Promise<ThreadRecord> {
  return orNotFound(await holdfast.threads.get(id, { ownerId }))
}

/** Another owner's thread is treated as not existing (HT2); the library returns null for both. */
export function orNotFound<Found>(found: Found | null): Found {
  if (found === null) throw notFound('thread')
  return found
}

/**
 * For work that ends with a verb which checks the owner: the thread is read only if the work was refused. A thread that is
 * not the caller's is reported before anything else that is wrong with the request (HT2).
 */
export async function asOwner<Result>(
  { holdfast }: ServerContext,
  { ownerId }: RouteRequest,
  id: ThreadId,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    // If the store cannot be read either, the refusal stays what it was.
    const thread = await holdfast.threads.get(id, { ownerId }).catch(() => undefined)
    throw thread === null ? notFound('thread') : error
  }
}

export const isOwned = (
  thread: ThreadRecord | null,
  { ownerId }: Pick<RouteRequest, 'ownerId'>,
): thread is ThreadRecord => thread !== null && thread.ownerId === ownerId

const leastMadeUp = 16

/**
 * Thread ids are one name space for all owners: a short id that one client takes is unavailable to everybody else, and
 * its unavailability reveals that it exists. So ids that do not exist and ids of others are refused alike (HT2). A short
 * id of the caller's own thread is accepted: only for short ids is the thread read.
 */
export async function checkMadeUpId(
  { hasOwners, holdfast }: ServerContext,
  { ownerId }: RouteRequest,
  id: ThreadId,
): Promise<void> {
  if (!hasOwners || Array.from(id).length >= leastMadeUp) return
  if ((await holdfast.threads.get(id, { ownerId })) !== null) return
  throw new HoldfastError(
    'bad-id',
    `An id that you make up for a thread has at least ${leastMadeUp} characters, so that nobody can take a name that another would use. Use \`crypto.randomUUID()\`, or call \`POST /api/threads\` without an id, which makes one.`,
  )
}

/** A query parameter that may occur once. */
export function parameter(url: URL, name: string): string | undefined {
  const values = url.searchParams.getAll(name)
  if (values.length > 1) throw badRequest(`"${name}" is given more than once.`)
  return values[0]
}

export function oneOf<Word extends string>(
  url: URL,
  name: string,
  words: readonly Word[],
): Word | undefined {
  const value = parameter(url, name)
  if (value === undefined) return undefined
  const word = words.find((known) => known === value)
  if (word === undefined) throw badRequest(`"${name}" is one of ${words.join(', ')}.`)
  return word
}
