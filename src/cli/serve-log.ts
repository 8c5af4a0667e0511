import type { LifecycleEvent } from '../engine/telemetry/hooks.ts'
import type { RequestRecord } from '../server/handler-options.ts'
import { summarizeError } from '../server/log-error.ts'
import type { Terminal } from './terminal.ts'

export const logKinds = ['text', 'json', 'off'] as const
type LogKind = (typeof logKinds)[number]

/**
 * One line for each request and for each turn. It contains no content of messages, except error texts of tools and
 * providers.
 */
export interface ServeLog {
  readonly request: (record: RequestRecord) => void
  readonly event: (event: LifecycleEvent) => void
  /** An error outside of every route, such as in the pages of an app. */
  readonly fault: (error: unknown) => void
}

export function createServeLog(kind: LogKind, terminal: Terminal): ServeLog {
  const write = (message: string, fields: Readonly<Record<string, unknown>>, isBad: boolean) => {
    const time = new Date().toISOString()
    if (kind === 'json') terminal.note(JSON.stringify({ time, ...fields }))
    if (kind !== 'text') return
    const line = `${terminal.paint('dim', time.slice(11, 23))} ${message}`
    terminal.note(isBad ? terminal.paint('red', line) : line)
  }
  return {
    request({ method, route, status, ms, error }) {
      const fields = { log: 'request', method, route, status, ms: Math.round(ms) }
      const cause = error === undefined ? {} : { error: summarizeError(error) }
      const message = `${method} ${route || '(no route)'} ${status} ${Math.round(ms)} ms`
      write([message, ...Object.values(cause)].join(' '), { ...fields, ...cause }, status >= 500)
    },
    fault(error) {
      const message = summarizeError(error)
      const where = error instanceof Error && error.stack !== undefined ? error.stack : message
      write(`failed: ${where}`, { log: 'fault', error: message }, true)
    },
    event(event) {
      switch (event.type) {
        case 'turn-ended': {
          const { threadId, turnId, ending, ms } = event
          const fields = { log: 'turn', threadId, turnId, ending, ms: Math.round(ms) }
          write(`turn ${turnId} ${ending} ${Math.round(ms)} ms`, fields, ending === 'failed')
          break
        }
        case 'turn-paused': {
          const { threadId, turnId, waitingFor } = event
          write(
            `turn ${turnId} waits for ${waitingFor}`,
            { log: 'turn', threadId, turnId, waitingFor },
            false,
          )
          break
        }
        case 'turn-lost': {
          const { threadId, turnId, error } = event
          const fields = {
            log: 'turn',
            threadId,
            turnId,
            ending: 'lost',
            error: summarizeError(error),
          }
          write(`turn ${turnId} lost ${fields.error}`, fields, true)
          break
        }
        case 'failed': {
          const { threadId, turnId, source, name, callId, code, errorId, message } = event
          const what = [source, name].filter((word) => word !== undefined).join(' ')
          write(
            `${what} failed (error ${errorId}): ${message}`,
            { log: 'failure', source, errorId, threadId, turnId, callId, name, code, message },
            true,
          )
          break
        }
        case 'recovery-failed': {
          const error = summarizeError(event.error)
          write(`recovery failed: ${error}`, { log: 'recovery', error }, true)
          break
        }
        default:
        // Steps, calls and commits are for metrics; a line for each would hide the rest.
      }
    },
  }
}
