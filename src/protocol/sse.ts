import { createLineSplitter } from './lines.ts'

/** One server-sent event. */
export interface SseEvent {
  readonly type: 'event'
  /** Its own `id`, not that of an earlier event. */
  readonly id: string | undefined
  /** Its `event` field; most have none. */
  readonly event: string | undefined
  /** Its `data` lines, joined by line feeds. */
  readonly data: string
}

/** A line that begins with a colon: servers send it to keep a connection open. */
export interface SseComment {
  readonly type: 'comment'
  readonly text: string
}

export interface SseDecoder {
  /** The events and comments that are complete with this piece of decoded text, in order. */
  push(text: string): readonly (SseEvent | SseComment)[]
  /**
   * The event in which the stream ended before its blank line. A browser drops it; a reader that
   * distinguishes a stream that broke off from one that ended needs it.
   */
  end(): readonly (SseEvent | SseComment)[]
}

/**
 * Decodes the event stream format of the HTML standard, wherever its text was split, in linear time. Fields
 * other than `id`, `event` and `data` are ignored, and so is an event without `data`.
 */
export function createSseDecoder(): SseDecoder {
  const lines = createLineSplitter()
  let id: string | undefined
  let event: string | undefined
  let data: string[] = []

  const dispatch = (): readonly SseEvent[] => {
    const events: readonly SseEvent[] =
      data.length === 0 ? [] : [{ type: 'event', id, event, data: data.join('\n') }]
    id = undefined
    event = undefined
    data = []
    return events
  }
  const read = (line: string): readonly (SseEvent | SseComment)[] => {
    if (line === '') return dispatch()
    const colon = line.indexOf(':')
    const name = colon < 0 ? line : line.slice(0, colon)
    const start = colon < 0 ? line.length : line[colon + 1] === ' ' ? colon + 2 : colon + 1
    const value = line.slice(start)
    if (colon === 0) return [{ type: 'comment', text: value }]
    if (name === 'data') data.push(value)
    else if (name === 'id' && !value.includes('\0')) id = value
    else if (name === 'event') event = value === '' ? undefined : value
    return []
  }
  return {
    push: (text) => lines.push(text).flatMap(read),
    end: () => [...lines.end().flatMap(read), ...dispatch()],
  }
}
