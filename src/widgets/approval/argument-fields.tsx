import { type ReactNode, useState } from 'react'
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts'

interface ArgumentFieldsProps {
  readonly value: JsonObject
  /** The tool's JSON Schema, once it is known. */
  readonly schema: JsonObject | undefined
  readonly isDisabled: boolean
  readonly onChange: (value: JsonObject) => void
}

/** A form made from the tool's schema: one field per argument, by its type; anything else as JSON. */
export function ArgumentFields({
  value,
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
          isDisabled={isDisabled}
          onChange={(next) => onChange(withField(value, name, next))}
        />
      ))}
    </div>
  )
}

function withField(value: JsonObject, name: string, next: Json | undefined): JsonObject {
  const { [name]: _, ...rest } = value
  return next === undefined ? rest : { ...value, [name]: next }
}

interface FieldProps {
  readonly name: string
  readonly schema: JsonObject
  readonly value: Json | undefined
  readonly isDisabled: boolean
  readonly onChange: (value: Json | undefined) => void
}

function Field({ name, schema, value, isDisabled, onChange }: FieldProps): ReactNode {
  const hint = typeof schema.description === 'string' ? schema.description : undefined
  return (
    <label className="hf-field">
      <span>
        <code>{name}</code>
        {hint !== undefined && <small>{hint}</small>}
      </span>
      <Input {...{ schema, value, isDisabled, onChange, name }} />
    </label>
  )
}

function Input({ schema, value, isDisabled, onChange }: FieldProps): ReactNode {
  if (Array.isArray(schema.enum)) {
    return (
      <select
        disabled={isDisabled}
        value={JSON.stringify(value ?? null)}
        onChange={(event) => onChange(JSON.parse(event.target.value) as Json)}
      >
        {(schema.enum as readonly Json[]).map((choice) => (
          <option key={JSON.stringify(choice)} value={JSON.stringify(choice)}>
            {typeof choice === 'string' ? choice : JSON.stringify(choice)}
          </option>
        ))}
      </select>
    )
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
        value={typeof value === 'number' ? value : ''}
        disabled={isDisabled}
        onChange={(event) =>
          onChange(event.target.value === '' ? undefined : event.target.valueAsNumber)
        }
      />
    )
  }
  if (schema.type === 'string' || typeof value === 'string') {
    return (
      <input
        dir="auto"
        value={typeof value === 'string' ? value : ''}
        disabled={isDisabled}
        onChange={(event) => onChange(event.target.value)}
      />
    )
  }
  return <JsonInput value={value ?? null} isDisabled={isDisabled} onChange={onChange} />
}

function JsonInput(
  props: Pick<FieldProps, 'isDisabled' | 'onChange'> & { readonly value: Json },
): ReactNode {
  const [text, setText] = useState(() => JSON.stringify(props.value, null, 2))
  const [isBroken, setBroken] = useState(false)
  const change = (next: string) => {
    setText(next)
    try {
      props.onChange(JSON.parse(next) as Json)
      setBroken(false)
    } catch {
      // Half-typed text is not JSON yet; the last valid value counts.
      setBroken(true)
    }
  }
  return (
    <textarea
      rows={4}
      value={text}
      disabled={props.isDisabled}
      aria-invalid={isBroken}
      onChange={(event) => change(event.target.value)}
    />
  )
}
