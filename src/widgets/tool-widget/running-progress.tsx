import { type ReactNode, useEffect, useState } from 'react'
import type { Call } from '../../core/call.ts'
import { projectProgress } from '../../views/call-progress.ts'
import { useStrings } from '../strings-context.tsx'
import { useThrottledText } from './use-throttled-text.ts'

/** The interval between two screen reader announcements of one call. */
const calmMs = 10_000

interface RunningProgressProps {
  readonly call: Call
  /** Whether it is announced to screen readers. If the same text is shown twice, only one may be. @default false */
  readonly isAnnounced?: boolean
}

/**
 * The progress of a running call, and how long it has been running (CO6). The visible text changes at once; the
 * announced text changes at intervals, and never only because a second has passed.
 */
export function RunningProgress({ call, isAnnounced = false }: RunningProgressProps): ReactNode {
  const strings = useStrings()
  const progress = projectProgress(call)
  const { message, done, total } = progress ?? {}
  const count = done === undefined ? undefined : strings.progress(done, total)
  const words = [message, count].filter((each) => each !== undefined).join(' · ')
  return (
    <>
      {isAnnounced && <AnnouncedProgress words={words} />}
      <span className="hf-progress">
        {words !== '' && (
          // The message is truncated where there is no room; the count never is.
          <span className="hf-progress-words" title={words} aria-hidden={isAnnounced}>
            {message !== undefined && (
              <span className="hf-progress-message">
                <bdi>{message}</bdi>
              </span>
            )}
            {count !== undefined && (
              <span className="hf-progress-count">
                <bdi>{count}</bdi>
              </span>
            )}
          </span>
        )}
        {done !== undefined && total !== undefined && (
          <span className="hf-progress-bar" aria-hidden="true">
            <span style={{ inlineSize: `${((done / total) * 100).toFixed(1)}%` }} />
          </span>
        )}
        <RunningTime call={call} />
      </span>
    </>
  )
}

function AnnouncedProgress({ words }: { readonly words: string }): ReactNode {
  return (
    <span className="hf-visually-hidden" aria-live="polite">
      {useThrottledText(words, calmMs)}
    </span>
  )
}

/** A component of its own, so that each second renders nothing else. */
function RunningTime({ call }: { readonly call: Call }): ReactNode {
  const strings = useStrings()
  const since = call.state === 'running' ? call.startedAt : 0
  const elapsedMs = useElapsed(since)
  // A message of `useChat` has no start times of its tools.
  if (since === 0 || elapsedMs < 1_000) return null
  return (
    <span className="hf-progress-time" aria-hidden="true">
      <bdi>{strings.runningFor(elapsedMs)}</bdi>
    </span>
  )
}

/** Relative to the server's clock; where the device's clock is behind it, the elapsed time is zero. */
function useElapsed(since: number): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [])
  return Math.max(0, now - since)
}
