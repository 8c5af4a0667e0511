import type { ReactNode } from 'react'
import type { Call } from '../../core/call.ts'
import type { Step, Turn } from '../../core/message.ts'
import type { Texts } from '../texts.ts'
import { useTexts } from '../texts-context.tsx'
import { titleOf } from './turn-summary.ts'

interface Bar {
  readonly key: string
  readonly label: string
  readonly from: number
  readonly to: number
  readonly look: string
}

/** Steps and calls of a turn as bars against time (CO5). */
export function TurnTimeline({ turn }: { readonly turn: Turn }): ReactNode {
  const texts = useTexts()
  const bars = turn.steps.flatMap((step) => stepBars(step, texts))
  const start = Math.min(...bars.map(({ from }) => from))
  const end = Math.max(...bars.map(({ to }) => to), start + 1)
  const percent = (time: number) => `${(((time - start) / (end - start)) * 100).toFixed(2)}%`
  return (
    <ol className="hf-timeline" aria-label={texts.timeline}>
      {bars.map(({ key, label, from, to, look }) => (
        <li key={key} className={`hf-bar hf-bar-${look}`}>
          <span className="hf-bar-label">{label}</span>
          <span className="hf-bar-track">
            <span
              className="hf-bar-fill"
              style={{
                insetInlineStart: percent(from),
                inlineSize: `max(3px, calc(${percent(to)} - ${percent(from)}))`,
              }}
            />
          </span>
          <span className="hf-bar-time">{texts.duration(to - from)}</span>
        </li>
      ))}
    </ol>
  )
}

function stepBars(step: Step, texts: Texts): readonly Bar[] {
  const calls = step.parts.filter((part): part is Call => part.type === 'call')
  const last = Math.max(step.startedAt, ...calls.map(endOf))
  const to = step.status === 'open' ? last : step.endedAt
  return [
    {
      key: `step-${step.index}`,
      label: texts.step(step.index + 1),
      from: step.startedAt,
      to,
      look: 'step',
    },
    ...calls.map((call) => ({
      key: call.id,
      label: titleOf(call),
      from: call.startedAt ?? call.createdAt,
      to: endOf(call),
      look: call.state,
    })),
  ]
}

const endOf = (call: Call): number =>
  'endedAt' in call ? call.endedAt : (call.startedAt ?? call.createdAt)
