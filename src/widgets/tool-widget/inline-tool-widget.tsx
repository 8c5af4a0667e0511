import { type ReactNode, useId } from 'react'
import type { Turn } from '../../core/message.ts'
import { Icon, Spinner } from '../icon.tsx'
import { usePersistentUiState } from '../persistent-ui-state.tsx'
import { useStrings } from '../strings-context.tsx'
import { CallList } from './call-list.tsx'
import { RunningProgress } from './running-progress.tsx'
import { TurnTimeline } from './turn-timeline.tsx'
import { summarizeTurn, type TurnSummary } from './turn-summary.ts'
import { useThrottledText } from './use-throttled-text.ts'

/** The props of `<InlineToolWidget>`. */
export interface InlineToolWidgetProps {
  /** The turn whose calls are shown; nothing is rendered for a turn without calls that is not thinking. */
  readonly turn: Turn
  /** Whether it is open initially. @default false */
  readonly defaultOpen?: boolean
}

/** One line about the tools of a turn, until it is opened (CO3, CO4). */
export function InlineToolWidget({ turn, defaultOpen = false }: InlineToolWidgetProps): ReactNode {
  const strings = useStrings()
  // A turn that was steered has one widget for each stretch: what is opened in one is not opened in the others.
  const key = `${turn.id} ${turn.steps[0]?.index ?? 0}`
  const [isOpen, setOpen] = usePersistentUiState(`widget ${key}`, defaultOpen)
  const [showsTimeline, setTimeline] = usePersistentUiState(`timeline ${key}`, false)
  const panel = useId()
  const summary = summarizeTurn(turn, strings)
  if (summary === null) return null
  const { look, text, ms, calls, current } = summary
  const line = (
    <>
      <LookIcon look={look} />
      <span className="hf-widget-text" dir="auto">
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
  const heard = <HeardLine words={turn.progress.status === 'running' ? text : ''} />
  if (calls.length === 0) {
    return (
      <div className={`hf-widget hf-look-${look}`}>
        {line}
        {heard}
      </div>
    )
  }
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
      {heard}
      <div id={panel} hidden={!isOpen}>
        {isShown && <TurnTimeline turn={turn} />}
        {isOpen && <CallList turn={turn} />}
      </div>
    </section>
  )
}

/** The least time between two announcements about one turn: a screen reader must not read out twelve tools of one second. */
const calmMs = 5_000

/** What the turn does now, for screen readers. That it waits or has ended is announced by the thread's `<Announcer>`. */
function HeardLine({ words }: { readonly words: string }): ReactNode {
  const calm = useThrottledText(words, calmMs)
  return (
    <span className="hf-visually-hidden" aria-live="polite">
      {words === '' ? '' : calm}
    </span>
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
    case 'stopped':
      return <Icon name="stop" />
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
