import type { Seq } from '../../core/ids.ts'
import { toEventFrames } from '../../protocol/event-frame.ts'
import type { Frame } from '../../engine/live-window.ts'
import { findThread, parameter, type ServerContext } from '../context.ts'
import { badRequest } from '../http-error.ts'
import type { Route } from '../router.ts'
import { sseData, toSseResponse } from '../../engine/sse.ts'

export function eventRoutes(context: ServerContext): readonly Route[] {
  const { holdfast, keepAliveMs, followers, saving, inFlight, reads } = context
  return [
    {
      method: 'GET',
      path: '/api/threads/:id/events',
      async handle(request) {
        const { id, seq } = await findThread(context, request)
        const after = placeOf(request.request, request.url)
        if (after > seq) throw badRequest(`The thread ends at ${seq}; "after" says ${after}.`)
        inFlight.admit(request.ownerId)
        const onClose = followers.take(request.ownerId)
        const gate = reads.gateOf(request.ownerId)
        const source = (signal: AbortSignal): AsyncIterator<Uint8Array, void> => {
          const frames = holdfast.subscribe(id, after, signal, gate)
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
        // Named, so that whoever reads frames only does not take it for one.
        const aside = (say: (text: string) => void) =>
          saving.watch((note) => say(`event: saving\n${sseData(note)}`))
        const meter = inFlight.meterOf(request.ownerId)
        return toSseResponse(source, { keepAliveMs, headers: {}, onClose, aside, meter })
      },
    },
  ]
}

interface EncodedFrame {
  readonly bytes: Uint8Array
  /** The last seq that it says. */
  readonly seq: Seq
}

const encoder = new TextEncoder()
const encoded = new WeakMap<Frame, EncodedFrame>()

/** Once for all who stand where the frame begins; who was sent less before has one of their own (OP7a). */
function encodeFrame(frame: Frame, after: Seq): EncodedFrame {
  const known = after === frame.after ? encoded.get(frame) : undefined
  if (known !== undefined) return known
  const each = toEventFrames(after, frame.changes)
  const text = each.map((one) => `id: ${one.seq}\n${sseData(one)}`).join('')
  const made = { bytes: encoder.encode(text), seq: each.at(-1)?.seq ?? after }
  if (after === frame.after) encoded.set(frame, made)
  return made
}

/** With both, what the browser remembers beats what the address said when it first connected. */
function placeOf(request: Request, url: URL): Seq {
  const value = request.headers.get('last-event-id') ?? parameter(url, 'after') ?? '0'
  if (!/^\d{1,15}$/.test(value)) throw badRequest('"after" and Last-Event-ID are whole numbers.')
  return Number(value)
}
