import { HoldfastError } from '../core/holdfast-error.ts'
import { noModel } from './create-run.ts'

/** Said at the door to whoever asks for an answer where nobody could give one, with what to do about it. */
export function noModelHere(): HoldfastError {
  const { code, message } = noModel()
  return new HoldfastError(code, `${message} Give \`createHoldfast\` a \`model\` or an \`agent\`.`)
}
