import type { Json } from '../core/json.ts'
import type { Part } from '../core/message.ts'
import { withDefined } from '../core/with-defined.ts'

/** A part of an AI SDK 4 message. */
export type VercelPart =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'reasoning'
      readonly reasoning: string
      readonly details: readonly { readonly type: 'text'; readonly text: string }[]
    }
  | { readonly type: 'tool-invocation'; readonly toolInvocation: VercelInvocation }
  | {
      readonly type: 'source'
      readonly source: {
        readonly sourceType: 'url'
        readonly id: string
        readonly url: string
        readonly title?: string
      }
    }
  | { readonly type: 'file'; readonly mimeType: string; readonly data: string }

/** A tool invocation of AI SDK 4. */
export interface VercelInvocation {
  readonly state: 'partial-call' | 'call' | 'result'
  readonly step: number
  readonly toolCallId: string
  readonly toolName: string
  readonly args: Json
  readonly result?: Json
}

/** Reasoning, sources and files come before the text of their step. */
export function projectExtraPart(part: Part): readonly VercelPart[] {
  switch (part.type) {
    case 'reasoning':
      return part.text === ''
        ? []
        : [
            {
              type: 'reasoning',
              reasoning: part.text,
              details: [{ type: 'text', text: part.text }],
            },
          ]
    case 'source-url': {
      const { sourceId: id, url, title } = part
      return [
        { type: 'source', source: withDefined({ sourceType: 'url', id, url } as const, { title }) },
      ]
    }
    case 'file': {
      // AI SDK 4 has the bytes in the part; it has no field for a link.
      const data = /^data:[^,]*;base64,(.*)$/s.exec(part.url)?.[1]
      return data === undefined ? [] : [{ type: 'file', mimeType: part.mediaType, data }]
    }
    // These have no counterpart in AI SDK 4, or are added elsewhere.
    case 'text':
    case 'call':
    case 'source-document':
    case 'reasoning-file':
    case 'custom':
    case 'data':
    case 'steering':
      return []
    default:
      // A part of a newer version (FD7).
      return []
  }
}
