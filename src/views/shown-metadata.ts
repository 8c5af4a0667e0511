import { isJsonObject, type Json } from '../core/json.ts'
import { isTurn, type Message, type Turn } from '../core/message.ts'
import { withDefined } from '../core/with-defined.ts'
import { toClientJson } from './client-json.ts'

/**
 * The metadata of a message as every view shows it: a turn's choices stand in it under their name (AG2), and which models failed
 * and were replaced (AG5), unless the host stored something there that is no object.
 */
export function shownMetadata(message: Message): Json | undefined {
  const metadata = message.metadata ?? undefined
  if (!isTurn(message)) return toClientJson(metadata)
  const failures = modelFailuresOf(message)
  const modelFailures = failures.length === 0 ? undefined : failures
  const { choices } = message
  const isOpen = metadata === undefined || isJsonObject(metadata)
  if (!isOpen || (choices === undefined && modelFailures === undefined)) {
    return toClientJson(metadata)
  }
  return toClientJson(withDefined({ ...metadata }, { choices, modelFailures }))
}

/** Metadata that was not there when the turn began. */
export const hasModelFailures = ({ steps }: Turn): boolean =>
  steps.some(
    (step) =>
      step.replaced !== undefined || (step.status === 'abandoned' && step.error !== undefined),
  )

/** In which step which model failed, why, and which one was tried next. */
export function modelFailuresOf({ steps }: Turn): readonly Json[] {
  return steps.flatMap((step, place) => {
    const silent = (step.replaced ?? []).map(({ model, by, error: { code, message } }) => ({
      step: step.index,
      model,
      by,
      code,
      message,
    }))
    if (step.status !== 'abandoned' || step.error === undefined) return silent
    const { code, message } = step.error
    const next = steps[place + 1]
    const by = next?.replaced?.[0]?.model ?? next?.model
    const model = step.model ?? ''
    return [...silent, withDefined({ step: step.index, model, code, message }, { by })]
  })
}
