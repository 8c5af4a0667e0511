import type { ReactNode } from 'react'
import { ActionError } from '../action-error.tsx'
import type { Call } from '../../core/call.ts'
import { isJsonObject, type Json } from '../../core/json.ts'
import { projectArguments } from '../../views/call-arguments.ts'
import { Icon } from '../icon.tsx'
import { usePersistentUiState } from '../persistent-ui-state.tsx'
import { useStrings } from '../strings-context.tsx'
import { useCallActions } from '../call-actions.ts'
import { titleOf } from '../tool-widget/turn-summary.ts'
import { summarizeArguments } from './summarize-arguments.ts'
import { ArgumentFields, type UnreadFields } from './argument-fields.tsx'
import { useDraftDecision } from './draft-decisions.ts'
import { useAction } from '../use-action.ts'
import { useToolSchema } from './use-tool-schema.ts'

/** The tool and its arguments; accept and reject are equally easy to reach (CD3, AP3, AP4). */
export function ApprovalForm({ call }: { readonly call: Call }): ReactNode {
  const strings = useStrings()
  const { decide, editsArguments = true } = useCallActions()
  const { isBusy, error, run } = useAction()
  const proposed = projectArguments(call.input)
  const [args, setArgs] = usePersistentUiState<Json>(`arguments ${call.id}`, proposed)
  const [feedback, setFeedback] = usePersistentUiState(`feedback ${call.id}`, '')
  const [unread, setUnread] = usePersistentUiState<UnreadFields>(`unread ${call.id}`, {})
  const schema = useToolSchema(call.name)
  const isEdited = JSON.stringify(args) !== JSON.stringify(proposed)
  const isReadable = Object.keys(unread).length === 0
  const answers = {
    // What is accepted is what the form shows: with a field that has no value yet there is nothing to accept (AP3).
    accept: isReadable ? ({ decision: 'accept', ...(isEdited ? { args } : {}) } as const) : null,
    reject: { decision: 'reject', ...(feedback === '' ? {} : { feedback }) } as const,
  }
  useDraftDecision(call.id, answers)
  const accept = () => {
    run(async () => {
      if (answers.accept === null) throw new Error(strings.unreadArguments)
      await decide?.(call.id, answers.accept)
    })
  }
  const reject = () => run(async () => decide?.(call.id, answers.reject))
  return (
    <fieldset
      className="hf-approval"
      // Where the focus goes when the one before it is decided.
      tabIndex={-1}
      aria-label={`${strings.approvalTitle(titleOf(call))} ${summarizeArguments(proposed)}`}
      data-call-id={call.id}
      data-call-state={call.state}
    >
      <p className="hf-approval-title">
        <Icon name="hand" />
        <bdi>{strings.approvalTitle(titleOf(call))}</bdi>
      </p>
      {isJsonObject(args) && (
        <ArgumentFields
          value={args}
          unread={unread}
          schema={schema}
          isDisabled={isBusy || !editsArguments}
          onChange={(next, nextUnread) => {
            setArgs(next)
            setUnread(nextUnread)
          }}
        />
      )}
      <label className="hf-field">
        <span>{strings.feedback}</span>
        <input
          dir="auto"
          value={feedback}
          disabled={isBusy}
          onChange={(event) => setFeedback(event.target.value)}
        />
      </label>
      <ActionError error={error} />
      <div className="hf-actions">
        <button
          type="button"
          className="hf-button hf-button-strong"
          aria-disabled={isBusy}
          disabled={decide === undefined}
          onClick={accept}
        >
          <Icon name="check" />
          {strings.accept}
        </button>
        <button
          type="button"
          className="hf-button"
          aria-disabled={isBusy}
          disabled={decide === undefined}
          onClick={reject}
        >
          <Icon name="cross" />
          {strings.reject}
        </button>
      </div>
    </fieldset>
  )
}
