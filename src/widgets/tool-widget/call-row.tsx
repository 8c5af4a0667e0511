import type { ReactNode } from 'react'
import type { Call } from '../../core/call.ts'
import { projectArguments } from '../../views/call-arguments.ts'
import { CopyButton } from '../copy-button.tsx'
import type { Strings } from '../strings.ts'
import { useStrings } from '../strings-context.tsx'
import { DecisionNote } from '../approval/decision-note.tsx'
import { JsonView } from '../tool-card/json-view.tsx'
import { ResultLoader } from '../tool-card/result-loader.tsx'
import { ValueView } from '../tool-card/value-view.tsx'
import { CallStateIcon } from './call-state-icon.tsx'
import { RunningProgress } from './running-progress.tsx'
import { durationOf, titleOf } from './turn-summary.ts'

interface CallRowProps {
  readonly call: Call
  readonly commentary: string | undefined
  /** Called when it gets the focus, or something in it is opened. @default none */
  readonly onFocus?: () => void
  /** Whether it is shown under the line of its group. @default false */
  readonly isGrouped?: boolean
}

/** One call of an expanded widget (CO4). */
export function CallRow({ call, commentary, onFocus, isGrouped }: CallRowProps): ReactNode {
  const strings = useStrings()
  const ms = durationOf([call])
  const args = projectArguments(call.input)
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the focus is that of its content
    <li
      className="hf-call"
      data-call-id={call.id}
      data-call-state={call.state}
      data-grouped={isGrouped}
      onFocus={onFocus}
    >
      {commentary !== undefined && (
        <p className="hf-commentary" dir="auto">
          {commentary}
        </p>
      )}
      <div className="hf-call-head">
        <CallStateIcon state={call.state} />
        <bdi className="hf-call-name">{titleOf(call)}</bdi>
        <span className="hf-call-state">{strings.state[call.state]}</span>
        {call.state === 'running' && <RunningProgress call={call} />}
        {ms !== null && <bdi className="hf-call-time">{strings.duration(ms)}</bdi>}
        <CopyButton
          label={strings.copyJson}
          text={() => JSON.stringify(toCopy(call, strings), null, 2)}
        />
      </div>
      <details className="hf-fold">
        <summary>{strings.arguments}</summary>
        <JsonView value={args} />
      </details>
      <CallResult call={call} />
      <DecisionNote call={call} />
    </li>
  )
}

function CallResult({ call }: { readonly call: Call }): ReactNode {
  const strings = useStrings()
  if (call.state === 'succeeded') {
    return (
      <details className="hf-fold">
        <summary>{strings.result}</summary>
        <ResultLoader call={call}>{(value) => <ValueView value={value} />}</ResultLoader>
      </details>
    )
  }
  if (!('endedAt' in call)) return null
  return (
    <p className="hf-call-error" dir="auto">
      {strings.callError(call)}
    </p>
  )
}

function toCopy(call: Call, strings: Strings): object {
  return {
    name: call.name,
    arguments: projectArguments(call.input),
    state: call.state,
    ...(call.state === 'succeeded' && call.output.kind === 'inline'
      ? { result: call.output.value }
      : {}),
    ...('endedAt' in call && call.state !== 'succeeded' ? { error: strings.callError(call) } : {}),
  }
}
