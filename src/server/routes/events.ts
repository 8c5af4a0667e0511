import type { Seq } from '../../core/ids.ts'
import type { StoredChange } from '../../store/store.ts'
import { toEventFrames } from '../../protocol/event-frame.ts'
import { toClientEvent, toClientMessage } from '../../views/client-turn.ts'
import { findThread, parameter, type ServerContext } from '../context.ts'
import { badRequest } from '../http-error.ts'
import type { Route } from '../router.ts'
import { sseData, toSseResponse } from '../../engine/sse.ts'

export function eventRoutes(context: ServerContext): readonly Route[] {
  const { holdfast, keepAliveMs, followers, saving } = context
  return [
    {
      method: 'GET',
      path: '/api/threads/:id/events',
      async handle(request) {
        const { id, seq } = await findThread(context, request)
        const after = placeOf(request.request, request.url)
        if (after > seq) throw badRequest(`The thread ends at ${seq}; "after" says ${after}.`)
        const onClose = followers.take(request.ownerId)
        const source = async function* (signal: AbortSignal): AsyncGenerator<string, void> {
          let at = after
          for await (const frame of holdfast.subscribe(id, after, signal)) {
            for (const each of toEventFrames(at, frame.changes.map(toClientChange))) {
              at = each.seq
              yield `id: ${each.seq}\n${sseData(each)}`
            }
          }
        }
        // Named, so that whoever reads frames only does not take it for one.
        const aside = (say: (text: string) => void) =>
          saving.watch((note) => say(`event: saving\n${sseData(note)}`))
        return toSseResponse(source, { keepAliveMs, headers: {}, onClose, aside })
      },
    },
  ]
}

const toClientChange = (change: StoredChange): StoredChange =>
  change.kind === 'turn'
    ? { ...change, turn: toClientMessage(change.turn) }
    : { ...change, event: toClientEvent(change.event) }

/** With both, what the browser remembers beats what the address said when it first connected. */
function placeOf(request: Request, url: URL): Seq {
  const value = request.headers.get('last-event-id') ?? parameter(url, 'after') ?? '0'
  if (!/^\d{1,15}$/.test(value)) throw badRequest('"after" and Last-Event-ID are whole numbers.')
  return Number(value)
}
