import {
  checkOptions,
  longestTimerMs,
  milliseconds,
  type OptionTable,
  record,
} from '../../core/check-options.ts'
import type { MessageId, ThreadId } from '../../core/ids.ts'
import type { Turn } from '../../core/message.ts'
import type { SdkVersion } from '../../views/ui-vocabulary.ts'
import { sseData, toSseResponse } from '../follow/sse.ts'
import { streamTurn, type TurnFeed } from '../follow/turn-stream.ts'

/** The options of `toResponse` of a recording. */
export interface RecordingResponseOptions {
  /** The major version of the AI SDK that reads it. @default what every client from 5.0.92 on accepts */
  readonly sdk?: SdkVersion
  /** Additional headers of the response. @default none */
  readonly headers?: Readonly<Record<string, string>>
  /** How often a comment keeps an idle connection open. @default 15_000 */
  readonly keepAliveMs?: number
}

/** The options of `toResponse` of a recording. */
export const recordingResponseRules: OptionTable<RecordingResponseOptions> = {
  sdk: {
    range: '5, 6 or 7',
    fits: (value) => value === 5 || value === 6 || value === 7,
    default: 'what every version from 5.0.92 on understands',
  },
  headers: record('an object of headers', 'none'),
  keepAliveMs: milliseconds(1, longestTimerMs, '15,000'),
}

export interface RecordedTurn {
  readonly threadId: ThreadId
  readonly turnId: MessageId
  /** Aborted, with the reason, when the recording can no longer be stored. */
  readonly lost?: AbortSignal
  /** The turn as the client has it already: then only what follows is sent. */
  readonly known?: (sdk: SdkVersion | undefined) => Turn
}

/**
 * A stored turn as a UI message stream. It is read from the ledger, not from the host application's loop: it shows what
 * a reload shows, with the same ids, and closing it stops nothing.
 */
export function toRecordingResponse(
  feed: TurnFeed,
  { threadId, turnId, lost, known }: RecordedTurn,
  options: RecordingResponseOptions = {},
): Response {
  checkOptions('toResponse', options, recordingResponseRules)
  const { sdk, headers = {}, keepAliveMs = 15_000 } = options
  const source = async function* (signal: AbortSignal): AsyncGenerator<string, void> {
    const follow = lost === undefined ? signal : AbortSignal.any([signal, lost])
    const sent = known === undefined ? {} : { sent: known(sdk) }
    for await (const { chunks } of streamTurn(feed, { threadId, turnId, sdk, ...sent }, follow)) {
      if (chunks.length > 0) yield chunks.map(sseData).join('')
    }
    // An error chunk, because clients take a stream that ends normally for a complete one.
    if (lost?.aborted === true) yield sseData({ type: 'error', errorText: lostText(lost.reason) })
    yield 'data: [DONE]\n\n'
  }
  return toSseResponse(source, {
    keepAliveMs,
    headers: { 'x-vercel-ai-ui-message-stream': 'v1', ...headers },
    onClose: () => {},
  })
}

const lostText = (reason: unknown): string =>
  reason instanceof Error ? reason.message : 'What follows could not be stored.'
