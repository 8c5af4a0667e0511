import { HoldfastError } from '../../core/holdfast-error.ts'

/** Thrown before anything is stored, if this process has no model that could answer. */
export const noModel = (): HoldfastError =>
  new HoldfastError(
    'no-model',
    'This server has no model: `createHoldfast` got none, and only `record` writes answers. Pass it a `model` or an `agent`.',
  )
