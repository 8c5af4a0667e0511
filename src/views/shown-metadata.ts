import { isJsonObject, type Json } from '../core/json.ts'
import { isTurn, type Message, type Turn } from '../core/message.ts'
import type { Feedback } from '../core/feedback.ts'
import { versionsOf } from '../core/versions.ts'
import { withDefined } from '../core/with-defined.ts'
import { toClientJson } from './client-json.ts'
import { toIsoDate } from './iso-date.ts'

/**
 * The metadata of a message as every view shows it: the versions of a message that has siblings stand in it (VR1), a turn's
 * choices under their name (AG2), which models failed and were replaced (AG5), and what people said of it (FK4), unless somebody stored something there
 * that is no object.
 */
export function shownMetadata(message: Message): Json | undefined {
  const metadata = message.metadata ?? undefined
  if (metadata !== undefined && !isJsonObject(metadata)) return toClientJson(metadata)
  const versions = versionsOf(message)
  const failures = isTurn(message) ? modelFailuresOf(message) : []
  const added = {
    choices: isTurn(message) ? message.choices : undefined,
    feedback: isTurn(message) ? message.feedback?.map(projectFeedback) : undefined,
    modelFailures: failures.length === 0 ? undefined : failures,
    versions: versions === undefined ? undefined : { ids: versions.ids, shown: versions.shown },
  }
  const isPlain = Object.values(added).every((value) => value === undefined)
  return toClientJson(isPlain ? metadata : withDefined({ ...metadata }, added))
}

/** What a person said of an answer, as every answer of the API says it. */
export const projectFeedback = ({ at, ...said }: Feedback) => ({ ...said, at: toIsoDate(at) })

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
