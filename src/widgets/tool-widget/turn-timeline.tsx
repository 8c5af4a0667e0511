import type { ReactNode } from 'react'
import type { Turn } from '../../core/message.ts'
import { useStrings } from '../strings-context.tsx'
import { CallStateIcon } from './call-state-icon.tsx'
import { planTurnBars, type TurnBar } from './turn-bars.ts'
import { titleOf } from './turn-summary.ts'

/** Steps and calls of a turn as bars on a time axis (CO5). */
export function TurnTimeline({ turn }: { readonly turn: Turn }): ReactNode {
  const strings = useStrings()
  return (
    <ol className="hf-timeline" aria-label={strings.timeline}>
      {planTurnBars(turn).map((bar) => (
        <Bar key={bar.key} bar={bar} />
      ))}
    </ol>
  )
}

function Bar({ bar }: { readonly bar: TurnBar }): ReactNode {
  const strings = useStrings()
  const { of, from, to, ms } = bar
  const call = 'call' in of ? of.call : undefined
  const label = 'call' in of ? titleOf(of.call) : strings.step(of.step + 1)
  const state = call?.state ?? 'running'
  return (
    <li
      className={`hf-bar hf-bar-${call?.state ?? 'step'}`}
      data-open={ms === null ? true : undefined}
    >
      <span className="hf-bar-label" title={label}>
        {call !== undefined && <CallStateIcon state={state} />}
        <bdi>{label}</bdi>
        {call !== undefined && ms !== null && (
          <span className="hf-visually-hidden">{strings.state[state]}</span>
        )}
      </span>
      <span className="hf-bar-track">
        <span
          className="hf-bar-fill"
          style={{
            insetInlineStart: `min(${toPercent(from)}, 100% - 3px)`,
            inlineSize: `max(3px, ${toPercent(to - from)})`,
          }}
        />
      </span>
      <span className="hf-bar-time">
        <bdi>{ms === null ? strings.state[state] : strings.duration(ms)}</bdi>
      </span>
    </li>
  )
}

const toPercent = (part: number): string => `${(part * 100).toFixed(2)}%`
