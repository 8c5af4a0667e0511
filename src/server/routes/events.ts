import { HoldfastError } from '../../core/holdfast-error.ts'
import type { Seq } from '../../core/ids.ts'
import type { ThreadPlace } from '../../core/thread-place.ts'
import { toEventFrames } from '../../protocol/event-frame.ts'
import { parsePlaceText, placeAfter, toPlaceText } from '../../protocol/place-text.ts'
import { isOtherHistory, type PlaceEvidence } from '../../store/place-evidence.ts'
import type { StoredChange } from '../../store/store.ts'
import type { Frame } from '../../engine/follow/live-window.ts'
import { toClientEvent, toClientMessage } from '../../views/client-turn.ts'
import { projectQueue } from '../../views/queue-view.ts'
import { readOwnThread, parameter, type ServerContext, threadOf } from '../context.ts'
import { badRequest, notFound } from '../http-error.ts'
import type { Route } from '../router.ts'
import { sseData, toSseResponse } from '../../engine/follow/sse.ts'

export function eventRoutes(context: ServerContext): readonly Route[] {
  const { holdfast, keepAliveMs, followers, saving, inFlight, reads } = context
  return [
    {
      method: 'GET',
      path: '/api/threads/:id/events',
      async handle(request) {
        inFlight.admit(request.ownerId)
        const gate = reads.gateOf(request.ownerId)
        const place = placeOf(request.request, request.url)
        const { seq: after } = place
        // Among the owner's other reads: of two hundred streams that one person opens at once, each would otherwise delay
        // the requests of others by the work for its thread (OP7a).
        const id = threadOf(request)
        const { seq, incarnation, found } = await gate(async () => {
          // First, and only this incarnation is followed: if it is still there then, it was its owner that was checked.
          // Undefined: the place names no history, or the store does not tell histories apart. A thread that is created
          // after this read is another one.
          const evidence = isBare(place) ? undefined : await holdfast.store.readPlace?.(id, after)
          if (evidence === null) throw notFound('thread')
          if (evidence?.ownerId !== undefined) {
            if (evidence.ownerId !== request.ownerId) throw notFound('thread')
            return { seq: evidence.threadSeq, incarnation: evidence.incarnation, found: evidence }
          }
          const thread = await readOwnThread(context, request)
          const { incarnation = '' } = evidence ?? thread
          return { seq: thread.seq, incarnation, found: evidence }
        })
        checkHistory(place, found)
        if (after > seq) throw badRequest(`The thread ends at ${seq}; "after" is ${after}.`)
        const onClose = followers.acquire(request.ownerId)
        const source = (signal: AbortSignal): AsyncIterator<Uint8Array, void> => {
          const frames = holdfast.subscribe(id, { seq: after, incarnation }, signal, gate)
          let at = after
          return {
            async next() {
              for (;;) {
                const { done, value: frame } = await frames.next()
                if (done === true) return { done, value: undefined }
                const { bytes, seq: reached } = encodeFrame(frame, at)
                at = reached
                if (bytes.length > 0) return { value: bytes }
              }
            },
            async return() {
              await frames.return()
              return { done: true, value: undefined }
            },
          }
        }
        // A named event, so that a client that reads only frames ignores it.
        const aside = (send: (text: string) => void) =>
          saving.watch((note) => send(`event: saving\n${sseData(note)}`))
        const meter = inFlight.meterOf(request.ownerId)
        return toSseResponse(source, { keepAliveMs, headers: {}, onClose, aside, meter })
      },
    },
  ]
}

const toClientChange = (change: StoredChange): StoredChange =>
  change.kind === 'turn'
    ? { ...change, turn: toClientMessage(change.turn) }
    : { ...change, event: toClientEvent(change.event) }

interface EncodedFrame {
  readonly bytes: Uint8Array
  /** The last seq in it. */
  readonly seq: Seq
}

const encoder = new TextEncoder()
const encoded = new WeakMap<Frame, EncodedFrame>()

/**
 * Encoded once for all followers at the frame's beginning; a follower at a later seq gets an encoding of its own
 * (OP7a).
 */
function encodeFrame(frame: Frame, after: Seq): EncodedFrame {
  const known = after === frame.after ? encoded.get(frame) : undefined
  if (known !== undefined) return known
  const each = toEventFrames(
    after,
    frame.changes.map(toClientChange),
    frame.queue && projectQueue(frame.queue),
  )
  const ends = new Map(frame.changes.map((change) => [change.seq, change]))
  const text = each.map((one) => `id: ${idOf(one, ends, frame)}\n${sseData(one)}`).join('')
  const made = { bytes: encoder.encode(text), seq: each.at(-1)?.seq ?? after }
  if (after === frame.after) encoded.set(frame, made)
  return made
}

/** If both are given, the browser's `Last-Event-ID` is newer than the address of the first connection. */
function placeOf(request: Request, url: URL): ThreadPlace {
  const value = request.headers.get('last-event-id') ?? parameter(url, 'after') ?? '0'
  const place = parsePlaceText(value)
  if (place !== null) return place
  throw badRequest('"after" and Last-Event-ID must be the place of a page or a frame, or a seq.')
}

/** A bare seq does not identify its history, and is taken to belong to this one. */
const isBare = ({ incarnation, mark }: ThreadPlace): boolean => incarnation === '' && mark === ''

function checkHistory(place: ThreadPlace, found: PlaceEvidence | undefined): void {
  if (found === undefined || !isOtherHistory(place, found)) return
  throw new HoldfastError(
    'other-history',
    'This place belongs to a history that the thread no longer has. Read a page, and follow from there.',
  )
}

const idOf = (
  { seq }: { readonly seq: Seq },
  ends: ReadonlyMap<Seq, StoredChange>,
  { incarnation }: Frame,
): string => {
  const change = ends.get(seq)
  return change === undefined ? String(seq) : toPlaceText(placeAfter(change, incarnation))
}
