import type { ReactNode } from 'react'
import { type Call, isOpenCall } from '../../core/call.ts'
import type { Json } from '../../core/json.ts'
import { projectArguments } from '../../views/call-arguments.ts'
import { errorTextOf } from '../../views/wording.ts'
import { ApprovalForm } from '../approval/approval-form.tsx'
import { UnknownForm } from '../approval/unknown-form.tsx'
import { Icon } from '../icon.tsx'
import { useTexts } from '../texts.tsx'
import { titleOf } from '../tool-widget/turn-summary.ts'
import { CardBoundary } from './card-boundary.tsx'
import { type CardEntry, useCard } from './card-registry.tsx'
import { JsonView } from './json-view.tsx'

/** The card of one call, by its state (CD3): loading, drawn, failed, waiting for a person. */
export function ToolCard({ call }: { readonly call: Call }): ReactNode {
  const entry = useCard(call.name)
  if (call.state === 'awaiting-approval') return <ApprovalForm call={call} />
  if (call.state === 'unknown' && call.resolution === undefined) return <UnknownForm call={call} />
  // Without a card of its own a call is a row of the widget, and that is enough.
  if (entry === undefined) return null
  return (
    <article className={`hf-card hf-card-${call.state}`} data-tool={call.name} data-call-id={call.id}>
      <CardBody call={call} entry={entry} />
    </article>
  )
}

function CardBody({ call, entry }: { readonly call: Call; readonly entry: CardEntry }): ReactNode {
  const texts = useTexts()
  const input = projectArguments(call.input)
  if (isOpenCall(call)) {
    const preliminary = call.state === 'running' ? call.preliminary : undefined
    if (preliminary !== undefined) return <Drawn call={call} entry={entry} output={preliminary} />
    return (
      <div className="hf-card-loading" aria-busy="true">
        <span className="hf-skeleton" />
        <span className="hf-visually-hidden">{texts.working(titleOf(call))}</span>
      </div>
    )
  }
  if (call.state !== 'succeeded') {
    return (
      <p className="hf-card-error">
        <Icon name="warning" />
        <span>
          <strong>{titleOf(call)}</strong> {errorTextOf(call)}
        </span>
      </p>
    )
  }
  if (call.output.kind === 'omitted') return <JsonView value={input} />
  return <Drawn call={call} entry={entry} output={call.output.value} />
}

function Drawn(props: {
  readonly call: Call
  readonly entry: CardEntry
  readonly output: Json
}): ReactNode {
  const { call, entry, output } = props
  const texts = useTexts()
  const fallback = (
    <>
      <p className="hf-card-error">
        <Icon name="warning" />
        {texts.cardFailed}
      </p>
      <JsonView value={output} />
    </>
  )
  return (
    <CardBoundary fallback={fallback}>
      <Upcast {...props} input={projectArguments(call.input)} entry={entry} />
    </CardBoundary>
  )
}

/** Inside the boundary, since an upcaster may throw too. */
function Upcast(props: {
  readonly call: Call
  readonly entry: CardEntry
  readonly input: Json
  readonly output: Json
}): ReactNode {
  const { call, entry, input, output } = props
  const Card = entry.component
  return <Card call={call} input={input} output={entry.upcast?.(output) ?? output} />
}
