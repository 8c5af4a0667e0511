import type { ReactNode } from 'react'
import type { ModelInfo } from '../../client/agent-client.ts'
import { isJsonObject } from '../../core/json.ts'
import type { Turn } from '../../core/message.ts'
import { useAgent } from '../../react/use-agent.ts'
import { modelFailuresOf } from '../../views/shown-metadata.ts'
import { useStrings } from '../strings-context.tsx'

/** The model that produced an answer, if there are several; and the failed model that it replaced (AG2, AG5). */
export function TurnModel({ turn }: { readonly turn: Turn }): ReactNode {
  const strings = useStrings()
  const { models } = useAgent()
  const note = modelNoteOf(turn, models)
  if (note === null || (models.length < 2 && note.failed === undefined)) return null
  const { answered, failed } = note
  return (
    <p className="hf-turn-model">
      <bdi>
        {failed === undefined
          ? strings.answeredBy(answered)
          : strings.answeredInstead(answered, failed)}
      </bdi>
    </p>
  )
}

export interface ModelNote {
  readonly answered: string
  /** The model that was called first, and failed. */
  readonly failed?: string
}

/** The models of the steps, with their labels from the list where they are in it. */
export function modelNoteOf(turn: Turn, models: readonly ModelInfo[]): ModelNote | null {
  const used = turn.steps.findLast((step) => step.model !== undefined)?.model
  if (used === undefined) return null
  const labelOf = (id: string) => models.find((model) => model.id === id)?.label ?? id
  const [first] = modelFailuresOf(turn)
  const failed = isJsonObject(first) ? first['model'] : undefined
  if (typeof failed === 'string' && failed !== used) {
    return { answered: labelOf(used), failed: labelOf(failed) }
  }
  // A host application may offer a model under an id of its own; the answering model is then the picked one.
  const picked = isJsonObject(turn.choices) ? turn.choices['model'] : undefined
  const named = models.find(({ id }) => id === used) ?? models.find(({ id }) => id === picked)
  return { answered: named?.label ?? used }
}
