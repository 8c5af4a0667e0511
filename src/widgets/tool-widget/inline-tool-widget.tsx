import { type ReactNode, useId } from 'react'
import type { Turn } from '../../core/message.ts'
import { Icon, Spinner } from '../icon.tsx'
import { usePersistentUiState } from '../persistent-ui-state.tsx'
import { useStrings } from '../strings-context.tsx'
import { CallList } from './call-list.tsx'
import { RunningProgress } from './running-progress.tsx'
import { TurnTimeline } from './turn-timeline.tsx'
import { summarizeTurn, type TurnSummary } from './turn-summary.ts'

/** The props of `<InlineToolWidget>`. */
export interface InlineToolWidgetProps {
  /** The turn whose calls it shows; nothing is drawn for one without calls that is not thinking. */
  readonly turn: Turn
  /** Open until somebody closes it. @default false */
  readonly defaultOpen?: boolean
}

/** One quiet line about the tools of a turn, until somebody opens it (CO3, CO4). */
export function InlineToolWidget({ turn, defaultOpen = false }: InlineToolWidgetProps): ReactNode {
  const strings = useStrings()
  const [isOpen, setOpen] = usePersistentUiState(`widget ${turn.id}`, defaultOpen)
  const [showsTimeline, setTimeline] = usePersistentUiState(`timeline ${turn.id}`, false)
  const panel = useId()
  const summary = summarizeTurn(turn, strings)
  if (summary === null) return null
  const { look, text, ms, calls, current } = summary
  const line = (
    <>
      <LookIcon look={look} />
      <span className="hf-widget-text" dir="auto" aria-live="polite">
        {text}
      </span>
      {current?.state === 'running' && (
        <RunningProgress key={current.id} call={current} isAnnounced />
      )}
      {ms !== null && look !== 'working' && (
        <span className="hf-widget-time">
          <bdi>{strings.duration(ms)}</bdi>
        </span>
      )}
    </>
  )
  if (calls.length === 0) return <div className={`hf-widget hf-look-${look}`}>{line}</div>
  const hasTimes = calls.some(({ startedAt }) => startedAt !== undefined)
  const isShown = isOpen && showsTimeline && hasTimes
  return (
    <section className={`hf-widget hf-look-${look}`} data-open={isOpen}>
      <div className="hf-widget-line">
        <button
          type="button"
          className="hf-widget-toggle"
          aria-expanded={isOpen}
          aria-controls={panel}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name="chevron" />
          {line}
        </button>
        {isOpen && hasTimes && (
          <button
            type="button"
            className="hf-quiet"
            aria-pressed={showsTimeline}
            onClick={() => setTimeline(!showsTimeline)}
          >
            <Icon name="bars" />
            {strings.timeline}
          </button>
        )}
      </div>
      <div id={panel} hidden={!isOpen}>
        {isShown && <TurnTimeline turn={turn} />}
        {isOpen && <CallList turn={turn} />}
      </div>
    </section>
  )
}

function LookIcon({ look }: Pick<TurnSummary, 'look'>): ReactNode {
  switch (look) {
    case 'thinking':
      return <span className="hf-pulse" aria-hidden="true" />
    case 'working':
      return <Spinner />
    case 'done':
      return <Icon name="check" />
    case 'declined':
      return <Icon name="cross" />
    case 'warning':
      return <Icon name="warning" />
    case 'waiting':
      return <Icon name="hand" />
    case 'unknown':
      return <Icon name="question" />
    default:
      return look satisfies never
  }
}
