import { type ReactNode, useState } from 'react'
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts'

/** What was typed into fields that cannot be read as a value yet, by the names of the fields. */
export type UnreadFields = Readonly<Record<string, string>>

interface ArgumentFieldsProps {
  readonly value: JsonObject
  readonly unread: UnreadFields
  /** The tool's JSON Schema, once it is known. */
  readonly schema: JsonObject | undefined
  readonly isDisabled: boolean
  readonly onChange: (value: JsonObject, unread: UnreadFields) => void
}

/** A form made from the tool's schema: one field per argument, by its type; anything else as JSON. */
export function ArgumentFields({
  value,
  unread,
  schema,
  isDisabled,
  onChange,
}: ArgumentFieldsProps): ReactNode {
  const properties = isJsonObject(schema?.properties) ? schema.properties : {}
  const names = [...new Set([...Object.keys(properties), ...Object.keys(value)])]
  return (
    <div className="hf-fields">
      {names.map((name) => (
        <Field
          key={name}
          name={name}
          schema={isJsonObject(properties[name]) ? properties[name] : {}}
          value={value[name]}
          unread={unread[name]}
          isDisabled={isDisabled}
          onChange={(next) =>
            onChange(withField(value, name, next), withField(unread, name, undefined))
          }
          onUnread={(text) => onChange(value, withField(unread, name, text))}
        />
      ))}
    </div>
  )
}

function withField<Value>(
  value: Readonly<Record<string, Value>>,
  name: string,
  next: Value | undefined,
): Readonly<Record<string, Value>> {
  const { [name]: _, ...rest } = value
  return next === undefined ? rest : { ...value, [name]: next }
}

interface FieldProps {
  readonly name: string
  readonly schema: JsonObject
  readonly value: Json | undefined
  /** What was typed and is no value yet. */
  readonly unread: string | undefined
  readonly isDisabled: boolean
  readonly onChange: (value: Json | undefined) => void
  readonly onUnread: (text: string) => void
}

function Field(props: FieldProps): ReactNode {
  const { name, schema } = props
  const hint = typeof schema.description === 'string' ? schema.description : undefined
  return (
    <label className="hf-field">
      <span>
        <code>{name}</code>
        {hint !== undefined && <small>{hint}</small>}
      </span>
      <Input {...props} />
    </label>
  )
}

function Input(props: FieldProps): ReactNode {
  const { schema, value, unread, isDisabled, onChange, onUnread } = props
  if (Array.isArray(schema.enum)) {
    return <ChoiceInput {...props} choices={schema.enum as readonly Json[]} />
  }
  if (schema.type === 'boolean' || typeof value === 'boolean') {
    const isOn = value === true
    return (
      <input
        type="checkbox"
        checked={isOn}
        disabled={isDisabled}
        onChange={() => onChange(!isOn)}
      />
    )
  }
  if (schema.type === 'number' || schema.type === 'integer' || typeof value === 'number') {
    return (
      <input
        type="number"
        // Without it every fraction is marked as wrong.
        step="any"
        value={typeof value === 'number' && unread === undefined ? value : ''}
        disabled={isDisabled}
        aria-invalid={unread !== undefined}
        onChange={({ target }) => {
          // Half a number ("1e") has no value, though the field shows it.
          if (target.validity.badInput) onUnread(target.value)
          else onChange(target.value === '' ? undefined : target.valueAsNumber)
        }}
      />
    )
  }
  if (schema.type === 'string' || typeof value === 'string') {
    return <TextInput {...props} value={typeof value === 'string' ? value : ''} />
  }
  return <JsonInput {...props} value={value ?? null} />
}

function ChoiceInput(props: FieldProps & { readonly choices: readonly Json[] }): ReactNode {
  const { value, isDisabled, onChange, choices } = props
  const chosen = value === undefined ? '' : JSON.stringify(value)
  const isOffered = choices.some((choice) => JSON.stringify(choice) === chosen)
  return (
    <select
      disabled={isDisabled}
      value={chosen}
      onChange={(event) =>
        onChange(event.target.value === '' ? undefined : (JSON.parse(event.target.value) as Json))
      }
    >
      {/* Without an option of its own a browser would show the first one, which is not what would run. */}
      {!isOffered && <option value={chosen}>{chosen}</option>}
      {choices.map((choice) => (
        <option key={JSON.stringify(choice)} value={JSON.stringify(choice)}>
          {typeof choice === 'string' ? choice : JSON.stringify(choice)}
        </option>
      ))}
    </select>
  )
}

/** Longer than what fits into one line of a phone. */
const longText = 40

/** A long text has several lines: a person who accepts it must be able to read all of it. */
function TextInput(props: FieldProps & { readonly value: string }): ReactNode {
  const { value, isDisabled, onChange } = props
  // Decided once: an element that is replaced while somebody types loses the focus.
  const [isLong] = useState(() => value.length > longText || value.includes('\n'))
  const common = { dir: 'auto', value, disabled: isDisabled } as const
  return isLong ? (
    <textarea
      {...common}
      className="hf-field-text"
      rows={3}
      onChange={(event) => onChange(event.target.value)}
    />
  ) : (
    <input {...common} onChange={(event) => onChange(event.target.value)} />
  )
}

function JsonInput(props: FieldProps & { readonly value: Json }): ReactNode {
  const { value, unread, isDisabled, onChange, onUnread } = props
  const [text, setText] = useState(() => JSON.stringify(value, null, 2))
  const change = (next: string) => {
    setText(next)
    try {
      onChange(JSON.parse(next) as Json)
    } catch {
      onUnread(next)
    }
  }
  return (
    <textarea
      rows={4}
      value={unread ?? text}
      disabled={isDisabled}
      aria-invalid={unread !== undefined}
      onChange={(event) => change(event.target.value)}
    />
  )
}
