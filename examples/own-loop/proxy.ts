import { createHoldfast, memory } from 'holdfast'
import { createHandler, createRecordingProxy, defaultForwardHeaders } from 'holdfast/server'

const holdfast = createHoldfast({ store: memory() })
const authenticate = (request: Request) => {
  const id = request.headers.get('x-tenant')
  return id === null ? null : { id }
}
const rest = createHandler(holdfast, { authenticate })

/** `/api/chat` goes to the old backend and is stored as it passes; everything else is Holdfast's. */
export function createApp(target: URL): (request: Request) => Promise<Response> {
  const chat = createRecordingProxy(holdfast, {
    target,
    authenticate,
    forwardHeaders: [...defaultForwardHeaders, 'x-tenant'],
  })
  return (request) =>
    new URL(request.url).pathname === '/api/chat' ? chat(request) : rest(request)
}
