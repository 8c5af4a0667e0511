import type { Call } from '../core/call.ts'
import { HoldfastError } from '../core/holdfast-error.ts'
import { isJsonObject, type Json } from '../core/json.ts'
import { isLargerThan } from '../core/json-size.ts'
import type { PromptOutput } from './model-message.ts'
import { modelTextOf } from './call-error-text.ts'

/**
 * The result of a call as the model is sent it. Only text that is too long is cut. A result that a lazy read
 * left out is refused: the model would mistake the placeholder for the result.
 */
export function projectPromptOutput(call: Call, maxChars = Number.POSITIVE_INFINITY): PromptOutput {
  if (call.state !== 'succeeded') {
    return { type: 'error-text', value: cutText(modelTextOf(call), maxChars) }
  }
  const { modelOutput, output } = call
  if (modelOutput !== undefined && isPromptOutput(modelOutput)) {
    return cutOutput(modelOutput, maxChars)
  }
  if (output.kind === 'omitted') {
    throw new HoldfastError(
      'bad-request',
      `The result of call ${call.id} was left out of a lazy read; a prompt needs it whole.`,
    )
  }
  return cutOutput(toOutput(output.value), maxChars)
}

/** A result of the provider is sent back unchanged: providers check its shape. */
export function projectProviderOutput(call: Call): PromptOutput {
  if (call.state === 'failed') return { type: 'error-json', value: call.modelError ?? call.error }
  return projectPromptOutput(call)
}

const toOutput = (value: Json): PromptOutput =>
  typeof value === 'string' ? { type: 'text', value } : { type: 'json', value }

function isPromptOutput(value: Json): value is Json & PromptOutput {
  if (!isJsonObject(value)) return false
  switch (value.type) {
    case 'text':
    case 'error-text':
      return typeof value.value === 'string'
    case 'json':
    case 'error-json':
      return value.value !== undefined
    case 'content':
      return Array.isArray(value.value) && value.value.every(isJsonObject)
    case 'execution-denied':
      return true
    default:
      return false
  }
}

function cutOutput(output: PromptOutput, maxChars: number): PromptOutput {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return { ...output, value: cutText(output.value, maxChars) }
    case 'json':
    case 'error-json': {
      // Nearly every result is far below the limit, and then its JSON text is not needed. JSON escapes a character to six at
      // most.
      const isUnlimited = maxChars === Number.POSITIVE_INFINITY
      if (isUnlimited || !isLargerThan(output.value, maxChars / 6)) return output
      const text = JSON.stringify(output.value)
      if (text.length <= maxChars) return output
      return {
        type: output.type === 'json' ? 'text' : 'error-text',
        value: cutText(text, maxChars),
      }
    }
    case 'content': {
      const value = output.value.flatMap((part) => {
        if (part.type !== 'text' || typeof part.text !== 'string') return [part]
        // Some providers refuse blank text.
        return part.text.trim() === '' ? [] : [{ ...part, text: cutText(part.text, maxChars) }]
      })
      return value.length === 0 ? { type: 'text', value: '' } : { ...output, value }
    }
    default:
      return output
  }
}

function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text
  // Half of a surrogate pair is not text.
  const end = /[\ud800-\udbff]/.test(text[maxChars - 1] ?? '') ? maxChars - 1 : maxChars
  // A copy: a slice would keep all of the text in memory for as long as the prompt is used.
  const shown = JSON.parse(JSON.stringify(text.slice(0, end))) as string
  return `${shown}\n[Cut: ${end} of ${text.length} characters are shown.]`
}
