import { HoldfastError } from '../core/holdfast-error.ts'

/** Said before anything is stored, where there is nobody who could answer, with what to do about it. */
export const noModel = (): HoldfastError =>
  new HoldfastError(
    'no-model',
    'There is no model here: `createHoldfast` was given none, and answers come from `record` alone. Give it a `model` or an `agent`.',
  )
