import type { ReactNode } from 'react'
import { ActionError } from '../action-error.tsx'
import type { Call } from '../../core/call.ts'
import { projectArguments } from '../../views/call-arguments.ts'
import { Icon } from '../icon.tsx'
import { useStrings } from '../strings-context.tsx'
import { useCallActions } from '../call-actions.ts'
import { JsonView } from '../tool-card/json-view.tsx'
import { titleOf } from '../tool-widget/turn-summary.ts'
import { useAction } from '../use-action.ts'

/** For a call whose outcome is unknown: what happened in plain words, and three ways to resolve it (CR3, CD3). */
export function UnknownForm({ call }: { readonly call: Call }): ReactNode {
  const strings = useStrings()
  const { resolve } = useCallActions()
  const { isBusy, error, run } = useAction()
  const choices = [
    ['retry', strings.retry, 'refresh'],
    ['done', strings.done, 'check'],
    ['skip', strings.skip, 'cross'],
  ] as const
  return (
    <fieldset
      className="hf-approval hf-unknown"
      tabIndex={-1}
      aria-label={strings.unknownTitle(titleOf(call))}
      data-call-id={call.id}
      data-call-state={call.state}
    >
      <p className="hf-approval-title">
        <Icon name="question" />
        <bdi>{strings.unknownTitle(titleOf(call))}</bdi>
      </p>
      <p dir="auto">{strings.unknownBody}</p>
      <JsonView value={projectArguments(call.input)} />
      <ActionError error={error} />
      <div className="hf-actions">
        {choices.map(([resolution, label, icon]) => (
          <button
            key={resolution}
            type="button"
            className="hf-button"
            aria-disabled={isBusy}
            disabled={resolve === undefined}
            onClick={() => run(async () => resolve?.(call.id, resolution))}
          >
            <Icon name={icon} />
            {label}
          </button>
        ))}
      </div>
    </fieldset>
  )
}
