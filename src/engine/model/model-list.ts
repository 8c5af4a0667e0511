import type { LanguageModel } from 'ai'
import type { AskedModel } from '../telemetry/hooks.ts'

/** The models of an agent, as one run tries them: the next one after a failure, and never back (AG5). */
export interface ModelList {
  /** Undefined: the agent has none. */
  readonly current: LanguageModel | undefined
  readonly hasNext: boolean
  moveOn(): void
}

export function createModelList(models: readonly LanguageModel[]): ModelList {
  let at = 0
  return {
    get current() {
      return models[at]
    },
    get hasNext() {
      return at + 1 < models.length
    },
    moveOn() {
      at++
    },
  }
}

/**
 * A model that is given as a string is resolved by the gateway, or by the default provider that the host application
 * set.
 */
export function namesOf(model: LanguageModel | undefined): AskedModel {
  if (typeof model !== 'string') {
    return { modelId: model?.modelId ?? '', provider: model?.provider ?? '' }
  }
  return { modelId: model, provider: model.includes('/') ? model.slice(0, model.indexOf('/')) : '' }
}
