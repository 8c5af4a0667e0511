import { type ReactNode, useMemo } from 'react'
import { type Call, isOpenCall, needsPerson } from '../../core/call.ts'
import type { Json } from '../../core/json.ts'
import { projectArguments } from '../../views/call-arguments.ts'
import type { UnsuccessfulCall } from '../../views/call-error-text.ts'
import { ApprovalForm } from '../approval/approval-form.tsx'
import { summarizeArguments } from '../approval/summarize-arguments.ts'
import { DecisionNote } from '../approval/decision-note.tsx'
import { UnknownForm } from '../approval/unknown-form.tsx'
import { useCallActions } from '../call-actions.ts'
import { Icon } from '../icon.tsx'
import { useStrings } from '../strings-context.tsx'
import { titleOf } from '../tool-widget/turn-summary.ts'
import { CardBoundary } from './card-boundary.tsx'
import { type CardEntry, cardOf, upcast, useCards } from './card-registry.tsx'
import { genericCard } from './generic-card.tsx'
import { JsonView } from './json-view.tsx'
import { ResultLoader } from './result-loader.tsx'

/** The card of one call, by its state (CD3): loading, rendered, failed, waiting for a person. */
export function ToolCard({ call }: { readonly call: Call }): ReactNode {
  const entry = cardOf(useCards(), call.name) ?? genericCard
  const { resolve } = useCallActions()
  if (call.state === 'awaiting-approval') return <ApprovalForm call={call} />
  // If it can no longer be resolved, there is nothing to choose.
  const isOpen = call.state === 'unknown' && needsPerson(call) && resolve !== undefined
  if (isOpen) return <UnknownForm call={call} />
  return (
    <article
      className="hf-card"
      aria-label={titleOf(call)}
      data-tool={call.name}
      data-call-id={call.id}
      data-call-state={call.state}
      // Until the arguments are complete, a screen reader would read half a sentence.
      aria-busy={entry.drawsInput === true && isOpenCall(call) ? true : undefined}
    >
      <CardBody call={call} entry={entry} />
      <DecisionNote call={call} />
    </article>
  )
}

interface CardBodyProps {
  readonly call: Call
  readonly entry: CardEntry
}

/**
 * The drawing has the same position in the tree in every state, so that a card that grew while its arguments streamed
 * stays the same element, with its expanded and scrolled state, when the result arrives.
 */
function CardBody({ call, entry }: CardBodyProps): ReactNode {
  const failed = isOpenCall(call) || call.state === 'succeeded' ? undefined : call
  return (
    <>
      {(failed === undefined || entry.drawsInput === true) && (
        <CardDrawing call={call} entry={entry} />
      )}
      {failed !== undefined && <CardError call={failed} />}
    </>
  )
}

function CardDrawing({ call, entry }: CardBodyProps): ReactNode {
  if (call.state === 'succeeded' && call.output.kind === 'omitted') {
    return (
      <ResultLoader call={call}>
        {(value) => <Drawn call={call} entry={entry} output={{ value }} />}
      </ResultLoader>
    )
  }
  const output = shownOutputOf(call)
  if (output === undefined && entry.drawsInput !== true) return <CardLoading call={call} />
  return <Drawn call={call} entry={entry} output={output} />
}

interface ShownOutput {
  readonly value: Json
}

function shownOutputOf(call: Call): ShownOutput | undefined {
  if (call.state === 'running' && call.preliminary !== undefined) return { value: call.preliminary }
  return call.state === 'succeeded' && call.output.kind === 'inline' ? call.output : undefined
}

function CardLoading({ call }: { readonly call: Call }): ReactNode {
  const strings = useStrings()
  return (
    <div className="hf-card-loading" aria-busy="true">
      <span className="hf-skeleton" />
      <span className="hf-skeleton" />
      <span className="hf-visually-hidden">{strings.working(titleOf(call))}</span>
    </div>
  )
}

function CardError({ call }: { readonly call: UnsuccessfulCall }): ReactNode {
  const strings = useStrings()
  return (
    <p className="hf-card-error">
      <Icon name={call.state === 'denied' ? 'cross' : 'warning'} />
      <span>
        <strong>{titleOf(call)}</strong>{' '}
        <bdi>{summarizeArguments(projectArguments(call.input))}</bdi>
        <span className="hf-card-cause" dir="auto">
          {strings.callError(call)}
        </span>
      </span>
    </p>
  )
}

interface DrawnProps extends CardBodyProps {
  /** Undefined: there is none yet. */
  readonly output: ShownOutput | undefined
}

function Drawn(props: DrawnProps): ReactNode {
  const { call, output } = props
  return (
    <CardBoundary
      of={call}
      fallback={
        isOpenCall(call) && output === undefined ? (
          // Missing data may still arrive.
          <CardLoading call={call} />
        ) : (
          <BrokenCard value={output === undefined ? projectArguments(call.input) : output.value} />
        )
      }
    >
      <Upcast {...props} />
    </CardBoundary>
  )
}

function BrokenCard({ value }: { readonly value: Json }): ReactNode {
  const strings = useStrings()
  return (
    <>
      <p className="hf-card-error">
        <Icon name="warning" />
        {strings.cardFailed}
      </p>
      <JsonView value={value} />
    </>
  )
}

/** Inside the boundary, since an upcaster may throw too. */
function Upcast({ call, entry, output }: DrawnProps): ReactNode {
  const Card = entry.component
  const input = useMemo(() => projectArguments(call.input), [call.input])
  return (
    <Card
      call={call}
      input={input}
      isPartial={call.input.kind === 'partial'}
      output={output === undefined ? null : upcast(entry, output.value)}
    />
  )
}
