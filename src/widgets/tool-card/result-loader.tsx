import { type ReactNode, useEffect, useState } from 'react'
import { ActionError } from '../action-error.tsx'
import type { EndedCall } from '../../core/call.ts'
import type { Json } from '../../core/json.ts'
import { useCallActions } from '../call-actions.ts'
import { useStrings } from '../strings-context.tsx'

type SucceededCall = Extract<EndedCall, { readonly state: 'succeeded' }>

/** A result up to this size is fetched automatically; a larger one on request. */
const mostByItself = 256_000

/** Renders a result; one that was left out of the page because of its size is fetched first (PG7). */
export function ResultLoader(props: {
  readonly call: SucceededCall
  readonly children: (output: Json) => ReactNode
}): ReactNode {
  const { call, children } = props
  const strings = useStrings()
  const { loadResult } = useCallActions()
  const { output } = call
  const [fetched, setFetched] = useState<{ readonly value: Json } | null>(null)
  const [error, setError] = useState<string | null>(null)
  const isSmall = output.kind === 'omitted' && output.bytes <= mostByItself
  const load = () => {
    setError(null)
    loadResult?.(call.id)
      .then((value) => setFetched({ value }))
      .catch((thrown: unknown) =>
        setError(thrown instanceof Error ? thrown.message : String(thrown)),
      )
  }
  useEffect(() => {
    if (isSmall) load()
    // Once per call: after a failure the user retries.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [call.id, isSmall])
  if (output.kind === 'inline') return children(output.value)
  if (fetched !== null) return children(fetched.value)
  if (isSmall && error === null) {
    return (
      <div className="hf-card-loading" aria-busy="true">
        <span className="hf-skeleton" />
      </div>
    )
  }
  return (
    <div className="hf-lazy">
      <button type="button" className="hf-button" onClick={load}>
        {strings.loadResult(strings.fileSize(output.bytes))}
      </button>
      <ActionError error={error} />
    </div>
  )
}
