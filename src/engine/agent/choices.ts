import type { FlexibleSchema } from 'ai'
import { HoldfastError } from '../../core/holdfast-error.ts'
import type { Json } from '../../core/json.ts'
import type { Turn } from '../../core/message.ts'
import { shortId } from '../run/failure-texts.ts'
import { type CheckedBy, fitSchema } from '../fit-schema.ts'
import type { Offer } from './offered-models.ts'

interface ChoicesEngine extends CheckedBy {
  readonly offer: Pick<Offer, 'schema'>
  readonly newMessageId: () => string
}

type ChoicesSchema = FlexibleSchema<unknown> | undefined

/**
 * The choices of a request as they are stored: what the host application's schema returns for them, with its defaults.
 * Choices that do not fit are refused, and so is a request with choices where there is no schema: they would be lost
 * silently (AG2).
 */
export async function fitChoices(
  engine: ChoicesEngine,
  given: Json | undefined,
): Promise<Json | undefined> {
  const { schema } = engine.offer
  if (schema === undefined) {
    if (given === undefined) return undefined
    throw badChoices('This server does not accept "choices": it has no schema for them.')
  }
  const fitted = await fitSchema(engine, schema, given === undefined ? {} : given)
  if (fitted.kind === 'fits') return fitted.value
  if (fitted.kind === 'failed') {
    // The error of the host application's schema goes to the log as the cause; the client gets an id to find it by.
    const message = `The choices could not be validated. (error ${shortId(engine.newMessageId())})`
    throw new HoldfastError('bad-choices', message, { cause: fitted.error })
  }
  throw badChoices(`The choices do not match the schema. ${fitted.message}`)
}

/**
 * The choices of a turn, for its agent. For a turn that was stored without any: the schema's defaults, if it has them.
 */
export async function storedChoices(
  engine: CheckedBy & { readonly options: { readonly choices: ChoicesSchema } },
  turn: Turn,
): Promise<Json | undefined> {
  const { choices: schema } = engine.options
  if (turn.choices !== undefined || schema === undefined) return turn.choices
  const fitted = await fitSchema(engine, schema, {})
  return fitted.kind === 'fits' ? fitted.value : undefined
}

const badChoices = (message: string): HoldfastError => new HoldfastError('bad-choices', message)
