import type { ReactNode } from 'react'
import { type Call, isOpenCall, needsPerson } from '../../core/call.ts'
import type { Json } from '../../core/json.ts'
import { projectArguments } from '../../views/call-arguments.ts'
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

/** The card of one call, by its state (CD3): loading, drawn, failed, waiting for a person. */
export function ToolCard({ call }: { readonly call: Call }): ReactNode {
  const entry = cardOf(useCards(), call.name) ?? genericCard
  const { resolve } = useCallActions()
  if (call.state === 'awaiting-approval') return <ApprovalForm call={call} />
  // Where nobody can resolve it any more, there is nothing to choose.
  const isOpen = call.state === 'unknown' && needsPerson(call) && resolve !== undefined
  if (isOpen) return <UnknownForm call={call} />
  return (
    <article
      className="hf-card"
      aria-label={titleOf(call)}
      data-tool={call.name}
      data-call-id={call.id}
      data-call-state={call.state}
    >
      <CardBody call={call} entry={entry} />
      <DecisionNote call={call} />
    </article>
  )
}

function CardBody({ call, entry }: { readonly call: Call; readonly entry: CardEntry }): ReactNode {
  const strings = useStrings()
  if (isOpenCall(call)) {
    const preliminary = call.state === 'running' ? call.preliminary : undefined
    if (preliminary !== undefined) return <Drawn call={call} entry={entry} output={preliminary} />
    return (
      <div className="hf-card-loading" aria-busy="true">
        <span className="hf-skeleton" />
        <span className="hf-skeleton" />
        <span className="hf-visually-hidden">{strings.working(titleOf(call))}</span>
      </div>
    )
  }
  if (call.state !== 'succeeded') {
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
  return (
    <ResultLoader call={call}>
      {(output) => <Drawn call={call} entry={entry} output={output} />}
    </ResultLoader>
  )
}

interface DrawnProps {
  readonly call: Call
  readonly entry: CardEntry
  readonly output: Json
}

function Drawn(props: DrawnProps): ReactNode {
  const strings = useStrings()
  const fallback = (
    <>
      <p className="hf-card-error">
        <Icon name="warning" />
        {strings.cardFailed}
      </p>
      <JsonView value={props.output} />
    </>
  )
  return (
    <CardBoundary fallback={fallback}>
      <Upcast {...props} />
    </CardBoundary>
  )
}

/** Inside the boundary, since an upcaster may throw too. */
function Upcast({ call, entry, output }: DrawnProps): ReactNode {
  const Card = entry.component
  return <Card call={call} input={projectArguments(call.input)} output={upcast(entry, output)} />
}
