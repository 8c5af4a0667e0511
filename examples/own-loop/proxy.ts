import { createHoldfast, memory } from 'holdfast'
import { createHandler, createRecordingProxy, defaultForwardHeaders } from 'holdfast/server'

const holdfast = createHoldfast({ store: memory() })
const rest = createHandler(holdfast)

/** `/api/chat` goes to the old backend and is stored as it passes; everything else is Holdfast's. */
export function createApp(target: URL): (request: Request) => Promise<Response> {
  const chat = createRecordingProxy(holdfast, {
    target,
    forwardHeaders: [...defaultForwardHeaders, 'x-tenant'],
  })
  return (request) =>
    new URL(request.url).pathname === '/api/chat' ? chat(request) : rest(request)
}
