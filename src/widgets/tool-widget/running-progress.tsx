import { type ReactNode, useEffect, useState } from 'react'
import type { Call } from '../../core/call.ts'
import { projectProgress } from '../../views/call-progress.ts'
import { useStrings } from '../strings-context.tsx'
import { useCalmWords } from './use-calm-words.ts'

/** Between two things that a screen reader is told of one call. */
const calmMs = 10_000

interface RunningProgressProps {
  readonly call: Call
  /** Told to screen readers by itself. Where the same stands twice, only one of them is. @default false */
  readonly isAnnounced?: boolean
}

/**
 * How far a call is that runs, and for how long it has been running (CO6). What is seen changes as it comes; what is heard
 * changes now and then, and never because a second has passed.
 */
export function RunningProgress({ call, isAnnounced = false }: RunningProgressProps): ReactNode {
  const strings = useStrings()
  const progress = projectProgress(call)
  const { message, done, total } = progress ?? {}
  const count = done === undefined ? undefined : strings.progress(done, total)
  const words = [message, count].filter((each) => each !== undefined).join(' · ')
  return (
    <>
      {isAnnounced && <HeardProgress words={words} />}
      <span className="hf-progress">
        {words !== '' && (
          // The sentence is cut off where there is no room; the count never is.
          <span className="hf-progress-words" title={words} aria-hidden={isAnnounced}>
            {message !== undefined && <bdi className="hf-progress-message">{message}</bdi>}
            {count !== undefined && <bdi className="hf-progress-count">{count}</bdi>}
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

function HeardProgress({ words }: { readonly words: string }): ReactNode {
  return (
    <span className="hf-visually-hidden" aria-live="polite">
      {useCalmWords(words, calmMs)}
    </span>
  )
}

/** A component of its own, so that a second that passes draws nothing else. */
function RunningTime({ call }: { readonly call: Call }): ReactNode {
  const strings = useStrings()
  const since = call.state === 'running' ? call.startedAt : 0
  const elapsedMs = useElapsed(since)
  // A message of `useChat` does not say when its tools began.
  if (since === 0 || elapsedMs < 1_000) return null
  return (
    <span className="hf-progress-time" aria-hidden="true">
      <bdi>{strings.runningFor(elapsedMs)}</bdi>
    </span>
  )
}

/** Since a moment of the server's clock; where the device's own is behind it, nothing has passed yet. */
function useElapsed(since: number): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [])
  return Math.max(0, now - since)
}
