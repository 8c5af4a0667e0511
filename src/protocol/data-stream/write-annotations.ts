import type { JsonObject } from '../../core/json.ts'
import { lineCodes, toLine } from './data-stream-line.ts'

/**
 * Writes what is noted about a message as it changes, in `8:` lines. A client of AI SDK 4 adds each to
 * the list it has and never takes one away, so of those with one `toolCallId` (or one `messageId`) the
 * last counts. A note that has not changed is not written again.
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
