import { type ReactNode, useEffect, useMemo } from 'react'
import type { ThreadClient } from '../../client/thread-snapshot.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import type { Turn } from '../../core/message.ts'
import { useAgent } from '../../react/use-agent.ts'
import { useStrings } from '../strings-context.tsx'
import { type ChoiceField, toChoiceFields, toPicks } from './choice-fields.ts'
import { useStoredPicks } from './use-stored-picks.ts'

/** The props of `<ChoicePicker>`. */
export interface ChoicePickerProps {
  readonly threadId: string
  /** Receives the picks, and sends them with every message. */
  readonly client: Pick<ThreadClient, 'choose'>
  /** The last answer of the thread: its choices are the initial ones for the next. @default none */
  readonly lastTurn?: Turn | undefined
}

/**
 * The model and the switches that the server offers, for the next answer. Renders nothing where there is nothing to
 * choose. It needs a `<HoldfastProvider>` around it.
 */
export function ChoicePicker({ threadId, client, lastTurn }: ChoicePickerProps): ReactNode {
  const strings = useStrings()
  const agent = useAgent()
  const fields = useMemo(() => toChoiceFields(agent), [agent])
  const [stored, store] = useStoredPicks(threadId, lastTurn?.id ?? '')
  const picks = toPicks(fields, stored ?? lastTurn?.choices)
  const sent = fields.length === 0 ? null : JSON.stringify(picks)
  useEffect(() => {
    if (sent !== null) client.choose(JSON.parse(sent) as JsonObject)
  }, [client, sent])
  if (fields.length === 0) return null
  const pick = (name: string, value: Json) => store({ ...picks, [name]: value })
  return (
    <fieldset className="hf-choices" aria-label={strings.choices}>
      {fields.map((field) => (
        <Choice key={field.name} field={field} value={picks[field.name]} pick={pick} />
      ))}
    </fieldset>
  )
}

function Choice(props: {
  readonly field: ChoiceField
  readonly value: Json | undefined
  readonly pick: (name: string, value: Json) => void
}): ReactNode {
  const { field, value, pick } = props
  const { model } = useStrings()
  const label = field.label ?? model
  if (field.kind === 'switch') {
    return (
      <label className="hf-choice" title={field.description}>
        <input
          type="checkbox"
          role="switch"
          checked={value === true}
          aria-checked={value === true}
          onChange={({ target }) => pick(field.name, target.checked)}
        />
        {label}
      </label>
    )
  }
  return (
    <select
      className="hf-choice"
      aria-label={label}
      title={field.description ?? label}
      value={typeof value === 'string' ? value : field.default}
      onChange={({ target }) => pick(field.name, target.value)}
    >
      {field.options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
    </select>
  )
}
