import { type ErrorCode, HoldfastError } from '../../core/holdfast-error.ts'
import type { Scheduler } from './scheduler.ts'
import type { Report } from './violation.ts'

/** What people have asked of processes and not yet been answered. */
export interface Requests {
  /** Labels of those that a living process has not answered. */
  readonly open: readonly string[]
  ask<Answer>(request: Request<Answer>): void
  /** Whoever waits for this process waits no longer. */
  drop(process: string): void
}

export interface Request<Answer> {
  readonly process: string
  readonly label: string
  readonly send: () => Promise<Answer>
  readonly answered: (answer: Answer) => void
  /** Faults that this may meet besides one of the store. */
  readonly faults?: readonly ErrorCode[]
}

export function createRequests(scheduler: Scheduler, report: Report): Requests {
  const open = new Map<object, { readonly process: string; readonly label: string }>()
  return {
    get open() {
      return [...open.values()].map(({ process, label }) => `${process}: ${label}`)
    },
    ask({ process, label, send, answered, faults = [] }) {
      const token = {}
      open.set(token, { process, label })
      scheduler.note(`${process} is asked: ${label}`)
      void send().then(
        (answer) => {
          if (!open.delete(token)) return
          scheduler.note(`${process} answers ${label}: ${JSON.stringify(answer)}`)
          answered(answer)
        },
        (error: unknown) => {
          if (!open.delete(token)) return
          scheduler.note(`${process} fails ${label}: ${String(error)}`)
          const isExpected =
            error instanceof HoldfastError &&
            (error.code === 'store-failed' || faults.includes(error.code))
          if (!isExpected) report('LG3', `${label} failed with ${String(error)}`)
        },
      )
    },
    drop(process) {
      for (const [token, request] of open) if (request.process === process) open.delete(token)
    },
  }
}
