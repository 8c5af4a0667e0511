import type { JsonObject } from '../../core/json.ts'
import { lineCodes, toLine } from './data-stream-line.ts'

/**
 * Writes the annotations of a message as they change, in `8:` lines. A client of AI SDK 4 appends each to its
 * list and never removes one, so of those with one `toolCallId` (or one `messageId`) the last counts. An
 * unchanged annotation is not written again.
 */
export function createAnnotationWriter(): (annotations: readonly JsonObject[]) => string {
  const written = new Map<string, string>()
  return (annotations) => {
    const changed = annotations.filter((annotation) => {
      const subject = JSON.stringify(
        annotation.toolCallId ??
          annotation.messageId ??
          annotation.steering ??
          annotation.part ??
          null,
      )
      const text = JSON.stringify(annotation)
      if (written.get(subject) === text) return false
      written.set(subject, text)
      return true
    })
    return changed.length === 0 ? '' : toLine(lineCodes.annotations, changed)
  }
}
