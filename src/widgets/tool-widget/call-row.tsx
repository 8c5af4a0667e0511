import type { ReactNode } from 'react'
import type { Call } from '../../core/call.ts'
import { projectArguments } from '../../views/call-arguments.ts'
import { CopyButton } from '../copy-button.tsx'
import type { Texts } from '../texts.ts'
import { useTexts } from '../texts-context.tsx'
import { DecisionNote } from '../approval/decision-note.tsx'
import { JsonView } from '../tool-card/json-view.tsx'
import { ResultLoader } from '../tool-card/result-loader.tsx'
import { ValueView } from '../tool-card/value-view.tsx'
import { CallStateIcon } from './call-state-icon.tsx'
import { durationOf, titleOf } from './turn-summary.ts'

export interface CallRowProps {
  readonly call: Call
  readonly commentary: string | undefined
}

/** One call of an opened widget (CO4). */
export function CallRow({ call, commentary }: CallRowProps): ReactNode {
  const texts = useTexts()
  const ms = durationOf([call])
  const args = projectArguments(call.input)
  return (
    <li className="hf-call" data-call-id={call.id} data-call-state={call.state}>
      {commentary !== undefined && (
        <p className="hf-commentary" dir="auto">
          {commentary}
        </p>
      )}
      <div className="hf-call-head">
        <CallStateIcon state={call.state} />
        <bdi className="hf-call-name">{titleOf(call)}</bdi>
        <span className="hf-call-state">{texts.state[call.state]}</span>
        {ms !== null && <bdi className="hf-call-time">{texts.duration(ms)}</bdi>}
        <CopyButton
          label={texts.copyJson}
          text={() => JSON.stringify(toCopy(call, texts), null, 2)}
        />
      </div>
      <details className="hf-fold">
        <summary>{texts.arguments}</summary>
        <JsonView value={args} />
      </details>
      <CallResult call={call} />
      <DecisionNote call={call} />
    </li>
  )
}

function CallResult({ call }: { readonly call: Call }): ReactNode {
  const texts = useTexts()
  if (call.state === 'succeeded') {
    return (
      <details className="hf-fold">
        <summary>{texts.result}</summary>
        <ResultLoader call={call}>{(value) => <ValueView value={value} />}</ResultLoader>
      </details>
    )
  }
  if (!('endedAt' in call)) return null
  return (
    <p className="hf-call-error" dir="auto">
      {texts.callError(call)}
    </p>
  )
}

function toCopy(call: Call, texts: Texts): object {
  return {
    name: call.name,
    arguments: projectArguments(call.input),
    state: call.state,
    ...(call.state === 'succeeded' && call.output.kind === 'inline'
      ? { result: call.output.value }
      : {}),
    ...('endedAt' in call && call.state !== 'succeeded' ? { error: texts.callError(call) } : {}),
  }
}
