import type { AgentInfo } from '../../client/agent-client.ts'
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts'

/** One field that a person may choose for an answer. */
export type ChoiceField = {
  /** Its name in `choices`. */
  readonly name: string
  /** The schema's title. Undefined for the model, which has a label of the widgets' own. */
  readonly label: string | undefined
  readonly description: string | undefined
} & (
  | { readonly kind: 'switch'; readonly default: boolean }
  | {
      readonly kind: 'select'
      readonly options: readonly { readonly value: string; readonly label: string }[]
      readonly default: string
    }
)

/**
 * The fields of a JSON Schema of choices that can be shown: the model where there is more than one, a switch for a
 * boolean, a select for a list of words. Other fields are for the host application's own controls.
 */
export function toChoiceFields({
  models,
  choices,
}: Pick<AgentInfo, 'models' | 'choices'>): readonly ChoiceField[] {
  const properties = isJsonObject(choices?.['properties']) ? choices['properties'] : {}
  return Object.entries(properties).flatMap(([name, schema]): readonly ChoiceField[] => {
    if (!isJsonObject(schema)) return []
    const description = textOf(schema['description'])
    const words = wordsOf(schema['enum'])
    const label = textOf(schema['title']) ?? toLabel(name)
    if (name === 'model' && models.length > 0) {
      const offered = models.filter(({ id }) => words === undefined || words.includes(id))
      const options = offered.map(({ id, label: shown }) => ({ value: id, label: shown }))
      return toSelect({ name, label: undefined, description }, options, schema['default'])
    }
    if (words !== undefined) {
      const options = words.map((word) => ({ value: word, label: toLabel(word) }))
      return toSelect({ name, label, description }, options, schema['default'])
    }
    if (schema['type'] !== 'boolean') return []
    return [{ kind: 'switch', name, label, description, default: schema['default'] === true }]
  })
}

/** The stored values that can still be chosen, and the defaults of the others. */
export function toPicks(fields: readonly ChoiceField[], stored: unknown): JsonObject {
  const known = isJsonObject(stored) ? stored : {}
  return Object.fromEntries(
    fields.map((field) => [field.name, isFitting(field, known[field.name]) ?? field.default]),
  )
}

function isFitting(field: ChoiceField, value: Json | undefined): Json | undefined {
  const fits =
    field.kind === 'switch'
      ? typeof value === 'boolean'
      : field.options.some((option) => option.value === value)
  return fits ? value : undefined
}

/** A field with only one option is not shown. */
function toSelect(
  field: Pick<ChoiceField, 'name' | 'label' | 'description'>,
  options: readonly { readonly value: string; readonly label: string }[],
  byDefault: Json | undefined,
): readonly ChoiceField[] {
  const [first] = options
  if (first === undefined || options.length < 2) return []
  const isOffered = options.some(({ value }) => value === byDefault)
  return [
    {
      kind: 'select',
      ...field,
      options,
      default: isOffered && typeof byDefault === 'string' ? byDefault : first.value,
    },
  ]
}

const textOf = (value: Json | undefined): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

const wordsOf = (value: Json | undefined): readonly string[] | undefined =>
  Array.isArray(value) && value.every((word) => typeof word === 'string') ? value : undefined

/** `webSearch` and `web_search` become “Web search”. */
function toLabel(name: string): string {
  const words = name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/[_-]+/g, ' ')
    .trim()
    .toLowerCase()
  return words === '' ? name : `${words.charAt(0).toUpperCase()}${words.slice(1)}`
}
