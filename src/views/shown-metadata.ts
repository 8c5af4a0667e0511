import { isJsonObject, type Json } from '../core/json.ts'
import { isTurn, type Message, type Turn } from '../core/message.ts'
import type { Feedback } from '../core/feedback.ts'
import { versionsOf } from '../core/versions.ts'
import { withDefined } from '../core/with-defined.ts'
import { toIsoDate } from './iso-date.ts'

/**
 * The metadata of a message as every view shows it: with the versions of a message that has siblings (VR1), a
 * turn's choices (AG2), the models that failed and were replaced (AG5), and people's feedback (FK4), unless
 * the stored metadata is not an object.
 */
export function shownMetadata(message: Message): Json | undefined {
  const metadata = message.metadata ?? undefined
  if (metadata !== undefined && !isJsonObject(metadata)) return metadata
  const versions = versionsOf(message)
  const failures = isTurn(message) ? modelFailuresOf(message) : []
  const added = {
    choices: isTurn(message) ? message.choices : undefined,
    feedback: isTurn(message) ? message.feedback?.map(projectFeedback) : undefined,
    modelFailures: failures.length === 0 ? undefined : failures,
    versions: versions === undefined ? undefined : { ids: versions.ids, shown: versions.shown },
  }
  const isPlain = Object.values(added).every((value) => value === undefined)
  return isPlain ? metadata : withDefined({ ...metadata }, added)
}

/** Feedback as every response of the API has it. */
export const projectFeedback = ({ at, ...feedback }: Feedback) => ({
  ...feedback,
  at: toIsoDate(at),
})

/** Whether the turn has metadata that did not exist when it began. */
export const hasModelFailures = ({ steps }: Turn): boolean =>
  steps.some(
    (step) =>
      step.replaced !== undefined || (step.status === 'abandoned' && step.error !== undefined),
  )

/** Which model failed in which step, why, and which one was tried next. */
export function modelFailuresOf({ steps }: Turn): readonly Json[] {
  return steps.flatMap((step, index) => {
    const silent = (step.replaced ?? []).map(({ model, by, error: { code, message } }) => ({
      step: step.index,
      model,
      by,
      code,
      message,
    }))
    if (step.status !== 'abandoned' || step.error === undefined) return silent
    const { code, message } = step.error
    const next = steps[index + 1]
    const by = next?.replaced?.[0]?.model ?? next?.model
    const model = step.model ?? ''
    return [...silent, withDefined({ step: step.index, model, code, message }, { by })]
  })
}
