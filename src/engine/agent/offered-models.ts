import { asSchema, type FlexibleSchema, jsonSchema, type LanguageModel } from 'ai'
import {
  badOption,
  checkOptions,
  type OptionRule,
  type OptionTable,
  text,
} from '../../core/check-options.ts'
import { toReadableThrown } from '../../core/error-text.ts'
import { HoldfastError } from '../../core/holdfast-error.ts'
import { type OwnerId, parseOwnerId } from '../../core/ids.ts'
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts'
import type { UserPart } from '../../core/message.ts'
import { withDefined } from '../../core/with-defined.ts'
import { isAccepted } from '../../files/sniff-type.ts'
import { type Clock, within } from '../clock.ts'
import { toJson } from '../to-json.ts'

/** A model that a person may pick. `choices.model` is its id. */
export interface OfferedModel {
  /** The value of `choices.model` in a request. */
  readonly id: string
  /** The name that people read. */
  readonly label: string
  /** One sentence about it, for people. @default none */
  readonly description?: string
  /**
   * The media types of files that it accepts: `image/*`, `application/pdf`, `*\/*`. A message with another file is
   * refused as `file-not-accepted` before anything is stored; `[]` accepts none. Older files of the thread are replaced
   * by a text about them.
   * @default nothing is refused
   */
  readonly accepts?: readonly string[]
  /**
   * The model that answers a turn that picked it; of a list, the next where one fails. Only beside an agent that is an
   * object: a function `agent` selects the model itself, by `choices.model`.
   * @default the agent's `model`
   */
  readonly model?: LanguageModel | readonly LanguageModel[]
}

/**
 * The models that everybody may pick, or a function that returns those of one owner. The first one answers where none
 * was picked.
 */
export type ModelsOption =
  | readonly OfferedModel[]
  | ((scope: {
      readonly ownerId: string
    }) => readonly OfferedModel[] | PromiseLike<readonly OfferedModel[]>)

/** What a person may choose for an answer: the body of `GET /api/agent`. */
export interface AgentDescription {
  /** Without the models themselves. Empty where the host application offers none. */
  readonly models: readonly Omit<OfferedModel, 'model'>[]
  /** The JSON Schema of a request's `choices`; null where nothing can be chosen. */
  readonly choices: JsonObject | null
}

/** The host application's `models` and `choices`, as the engine uses them (AG2). */
export interface Offer {
  readonly schema: FlexibleSchema<unknown> | undefined
  /** Empty where the option is not set. Rejects as `agent-failed` where the host application's function fails. */
  readonly modelsOf: (ownerId: OwnerId) => Promise<readonly OfferedModel[]>
  readonly describe: (ownerId: string) => Promise<AgentDescription>
  /** The media types that the model of a turn of this owner accepts. Undefined: all, or it is not specified. */
  readonly acceptsOf: (
    ownerId: OwnerId,
    choices: Json | undefined,
  ) => Promise<readonly string[] | undefined>
  /**
   * The choices of a turn of this owner, which fit the schema. Refuses a model that is not offered to this owner, and a
   * file that the picked model does not accept. `parts`: the message that is to be answered; read only where it is
   * needed.
   */
  readonly fit: (
    ownerId: OwnerId,
    choices: Json | undefined,
    parts: () => Promise<readonly UserPart[]>,
  ) => Promise<Json | undefined>
}

const modelRules = (model: OptionRule): OptionTable<OfferedModel> => ({
  id: text(),
  label: text(),
  description: { ...text(), default: 'none' },
  accepts: {
    range: 'a list of media types',
    fits: (value) =>
      Array.isArray(value) &&
      value.every((type) => typeof type === 'string' && /^[^/\s]+\/[^/\s]+$/.test(type)),
    default: 'all',
  },
  model: { ...model, default: 'the agent’s' },
})

/** Throws `bad-option` for a value that is no list of models, and for two models with one id. */
export function checkModels(place: string, models: unknown, model: OptionRule): void {
  if (!Array.isArray(models) || models.length === 0) {
    throw badOption(`${place} must be a list of models, each with id and label, and not empty.`)
  }
  const ids = new Set<unknown>()
  for (const [index, offered] of (models as readonly OfferedModel[]).entries()) {
    checkOptions(`${place}[${index}]`, offered, modelRules(model))
    if (ids.has(offered.id)) throw badOption(`${place}: two models have the id "${offered.id}".`)
    ids.add(offered.id)
  }
}

/**
 * The schema where the host application offers models and has no schema of its own: a request may choose one of the
 * models.
 */
const onlyModel = jsonSchema<unknown>(
  { type: 'object', properties: { model: { type: 'string' } }, additionalProperties: false },
  {
    validate(value) {
      const isFitting =
        isJsonObject(value) &&
        Object.entries(value).every(([name, id]) => name === 'model' && typeof id === 'string')
      return isFitting
        ? { success: true, value }
        : { success: false, error: new Error('Only "model" can be chosen, by its id.') }
    },
  },
)

export function createOffer(
  options: {
    readonly models: ModelsOption | undefined
    readonly choices: FlexibleSchema<unknown> | undefined
    readonly timeoutMs: number
    readonly modelRule: OptionRule
  },
  clock: Clock,
): Offer {
  const { models, choices, timeoutMs, modelRule } = options
  const schema = choices ?? (models === undefined ? undefined : onlyModel)

  const modelsOf = async (ownerId: OwnerId): Promise<readonly OfferedModel[]> => {
    if (typeof models !== 'function') return models ?? []
    try {
      const given = await within(clock, timeoutMs, async () => models({ ownerId }))
      checkModels('models', given, modelRule)
      return given
    } catch (thrown) {
      throw new HoldfastError('agent-failed', 'The list of models could not be loaded.', {
        cause: toReadableThrown(thrown),
        isTemporary: true,
      })
    }
  }

  const pick = (
    offered: readonly OfferedModel[],
    named: string | undefined,
  ): OfferedModel | undefined =>
    named === undefined && choices === undefined
      ? offered[0]
      : offered.find(({ id }) => id === named)

  return {
    schema,
    modelsOf,
    async acceptsOf(ownerId, chosen) {
      if (models === undefined) return undefined
      return pick(await modelsOf(ownerId), pickedModel(chosen))?.accepts
    },
    async describe(owner) {
      const offered = await modelsOf(parseOwnerId(owner))
      const shown = offered.map(({ id, label, description, accepts }) =>
        withDefined({ id, label }, { description, accepts }),
      )
      if (choices !== undefined) return { models: shown, choices: await toJsonSchema(choices) }
      if (models === undefined) return { models: shown, choices: null }
      const ids = offered.map(({ id }) => id)
      const model = { type: 'string', enum: ids, default: ids[0] ?? '' }
      return {
        models: shown,
        choices: { type: 'object', properties: { model }, additionalProperties: false },
      }
    },
    async fit(ownerId, chosen, parts) {
      if (models === undefined) return chosen
      const offered = await modelsOf(ownerId)
      const named = pickedModel(chosen)
      const picked = pick(offered, named)
      if (picked === undefined) {
        // Only a schema of the host application's own allows no pick; then its agent selects the model.
        if (named === undefined) return chosen
        const ids = offered.map(({ id }) => id).join(', ')
        throw new HoldfastError(
          'bad-choices',
          `There is no model "${named}". These are available: ${ids}.`,
        )
      }
      await checkFiles(picked, parts)
      return named === undefined && choices === undefined ? undefined : chosen
    },
  }
}

/** The id of the picked model: by convention the field `model` of the choices. */
export function pickedModel(choices: unknown): string | undefined {
  const model = isJsonObject(choices) ? choices['model'] : undefined
  return typeof model === 'string' ? model : undefined
}

async function checkFiles(
  { label, accepts }: OfferedModel,
  parts: () => Promise<readonly UserPart[]>,
): Promise<void> {
  if (accepts === undefined) return
  for (const part of await parts()) {
    if (part.type !== 'file' || isTaken(part.mediaType, accepts)) continue
    const name = part.filename === undefined ? 'a file' : `“${part.filename}”`
    const taken = accepts.length === 0 ? 'no files' : accepts.join(', ')
    throw new HoldfastError(
      'file-not-accepted',
      `${label} does not accept ${name} of the type ${part.mediaType}: it accepts ${taken}.`,
    )
  }
}

/** The parameters after a semicolon are no part of the type. */
export const isTaken = (mediaType: string, accepts: readonly string[]): boolean =>
  isAccepted(
    (mediaType.split(';', 1)[0] ?? '').trim().toLowerCase(),
    accepts.map((type) => type.toLowerCase()),
  )

/** A schema that cannot be expressed as JSON Schema, such as one with a transform, is described as `{}`. */
async function toJsonSchema(schema: FlexibleSchema<unknown>): Promise<JsonObject> {
  try {
    const value = toJson(await asSchema(schema).jsonSchema)
    return isJsonObject(value) ? value : {}
  } catch {
    return {}
  }
}
