import type { Holdfast } from '../engine/create-holdfast.ts'
import { callObserver } from '../core/call-observer.ts'
import { toReadableThrown } from '../core/error-text.ts'
import { answer } from './answer.ts'
import { checkHoldfast } from './check-arguments.ts'
import { basePathOf, createServerContext } from './context.ts'
import { withoutBasePath } from '../protocol/base-path.ts'
import { identify, nobody } from './guard.ts'
import type { HandlerOptions } from './handler-options.ts'
import { logToStandardError } from './log-error.ts'
import { onlyWebRequests } from './only-web-requests.ts'
import { checkHandlerOptions } from './option-rules.ts'
import { matchRoute, type Route } from './router.ts'
import { aboutRoutes } from './routes/about.ts'
import { chatRoutes } from './routes/chat.ts'
import { eventRoutes } from './routes/events.ts'
import { feedbackRoutes } from './routes/feedback.ts'
import { fileRoutes } from './routes/files.ts'
import { importRoutes } from './routes/import.ts'
import { messageRoutes } from './routes/messages.ts'
import { recoverRoutes } from './routes/recover.ts'
import { queueRoutes } from './routes/queue.ts'
import { searchRoutes } from './routes/search.ts'
import { shareRoutes } from './routes/shares.ts'
import { threadRoutes } from './routes/threads.ts'
import { toolCallRoutes } from './routes/tool-calls.ts'

/** A web-standard request handler. */
export type Handler = (request: Request) => Promise<Response>

/**
 * The whole HTTP API as one web-standard function, for any server that calls such functions. Handles every failure
 * itself; never rejects a `Request`. Without `authenticate` it has to be served with `listen`: see there. For Node's own
 * server and for Express it is wrapped by `toNodeHandler`.
 */
export function createHandler(holdfast: Holdfast, given: HandlerOptions = {}): Handler {
  checkHoldfast('createHandler', holdfast)
  const options = checkHandlerOptions(given)
  const context = createServerContext(holdfast, options)
  const routes: readonly Route[] = [
    ...aboutRoutes(context),
    ...threadRoutes(context),
    ...messageRoutes(context),
    ...queueRoutes(context),
    ...searchRoutes(context),
    ...feedbackRoutes(context),
    ...shareRoutes(context),
    ...eventRoutes(context),
    ...toolCallRoutes(context),
    ...chatRoutes(context),
    ...fileRoutes(context),
    ...importRoutes(context),
    ...recoverRoutes(context, options),
  ]

  return onlyWebRequests((request) =>
    answer(request, options, async (answering) => {
      const { url } = answering
      const basePath = basePathOf(request, url, options)
      const path = withoutBasePath(url.pathname, basePath) ?? ''
      const { route, params } = matchRoute(routes, request.method, path)
      answering.route = route.path
      const isAnyone =
        route.isPublic === true ||
        (route.isForReaders === true && options.authenticate !== undefined)
      const ownerId = isAnyone ? nobody : await identify(request, options)
      const bodyMeter = context.bodies.open(ownerId)
      try {
        return await route.handle({ request, url, params, ownerId, basePath, bodyMeter })
      } finally {
        bodyMeter.release()
        // Also after a refusal: a run may have begun, and nothing else keeps the process alive for it.
        if (holdfast.running().length > 0) keepProcess(options, holdfast)
      }
    }),
  )
}

/**
 * Errors of the platform are logged: the message is stored and being answered, and a 500 would claim that it is not.
 */
function keepProcess({ waitUntil }: HandlerOptions, holdfast: Holdfast): void {
  callObserver(
    () => waitUntil?.(holdfast.settled()),
    (thrown) => logToStandardError(toReadableThrown(thrown)),
  )
}
