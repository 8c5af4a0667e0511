import type { FlexibleSchema } from 'ai'
import { HoldfastError } from '../core/holdfast-error.ts'
import type { Json } from '../core/json.ts'
import type { Turn } from '../core/message.ts'
import { shortId } from './failure-words.ts'
import { fitSchema } from './fit-schema.ts'
import type { Offer } from './offered-models.ts'

/** What of the engine is needed for it. */
interface ChoicesEngine {
  readonly offer: Pick<Offer, 'schema'>
  readonly newMessageId: () => string
}

type ChoicesSchema = FlexibleSchema<unknown> | undefined

/**
 * The choices of a request as they are stored: what the host's schema makes of them, with its defaults. What does not fit is
 * refused, and so is a request with choices where there is no schema: they would be lost without a word (AG2).
 */
export async function fitChoices(
  { offer: { schema }, newMessageId }: ChoicesEngine,
  given: Json | undefined,
): Promise<Json | undefined> {
  if (schema === undefined) {
    if (given === undefined) return undefined
    throw badChoices('Nothing can be chosen here: the server has no schema for "choices".')
  }
  const fitted = await fitSchema(schema, given === undefined ? {} : given)
  if (fitted.kind === 'fits') return fitted.value
  if (fitted.kind === 'failed') {
    // The reason is the host's: it goes to the log as the cause, and whoever asks gets the id to find it by.
    const message = `The choices could not be checked. (error ${shortId(newMessageId())})`
    throw new HoldfastError('bad-choices', message, { cause: fitted.error })
  }
  throw badChoices(`The choices do not fit. ${fitted.message}`)
}

/** The choices of a turn, for its agent. Of one that was stored without any: the schema's defaults, if it has them. */
export async function storedChoices(schema: ChoicesSchema, turn: Turn): Promise<Json | undefined> {
  if (turn.choices !== undefined || schema === undefined) return turn.choices
  const fitted = await fitSchema(schema, {})
  return fitted.kind === 'fits' ? fitted.value : undefined
}

const badChoices = (message: string): HoldfastError => new HoldfastError('bad-choices', message)
