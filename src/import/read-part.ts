import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import { withDefined } from '../core/with-defined.ts'
import { idOf, objectOf, textOf } from './old-fields.ts'
import type { MessagePart, OldText } from './old-message.ts'
import { readFile } from './read-file.ts'
import { type InvocationContext, readToolInvocation } from './read-tool-invocation.ts'
import { readToolPart } from './read-tool-part.ts'
import { readToolResult, type ToolAnswer } from './read-tool-result.ts'

export type ReadPart =
  | MessagePart
  | ToolAnswer
  | { readonly type: 'unreadable'; readonly why: string }

/** One part of an assistant message, of any AI SDK from 4 to 7. */
export function readPart(value: Json, context: InvocationContext): ReadPart {
  if (!isJsonObject(value)) return unreadable('A part is not an object')
  const type = textOf(value, 'type') ?? ''
  switch (type) {
    case 'step-start':
      return { type }
    case 'text':
      return readText('text', textOf(value, 'text'), value)
    case 'reasoning':
      return readText('reasoning', readReasoning(value), value)
    case 'tool-invocation': {
      const invocation = objectOf(value, 'toolInvocation')
      return invocation === undefined
        ? unreadable('A tool-invocation part has no invocation')
        : readToolInvocation(invocation, context)
    }
    case 'source':
    case 'source-url':
    case 'source-document':
      return readSource(objectOf(value, 'source') ?? value, type)
    case 'file':
    case 'reasoning-file': {
      const file = readFile(value)
      if (file === undefined) return unreadable('A file has neither an address nor bytes')
      const { mediaType, url } = file
      return withDefined({ type, mediaType, url }, metadata(value))
    }
    case 'custom':
      return withDefined(
        { type, kind: textOf(value, 'kind') ?? 'unknown' } as const,
        metadata(value),
      )
    case 'steering-message':
      // What a person threw in while the assistant worked. A turn has no place for it but this.
      return { type: 'data', name: type, data: value }
    case 'tool-call':
      // In a model message. A tool of the name "call" has a state.
      return 'state' in value ? readToolPart(value, context.at) : readToolInvocation(value, context)
    case 'tool-result':
      return 'state' in value ? readToolPart(value, context.at) : readToolResult(value)
    case 'tool-approval-request':
      return 'state' in value ? readToolPart(value, context.at) : unknownPart(type)
    case 'dynamic-tool':
      return readToolPart(value, context.at)
    default:
      return readNamed(value, type, context)
  }
}

const unreadable = (why: string): ReadPart => ({ type: 'unreadable', why })
const unknownPart = (type: string): ReadPart =>
  unreadable(`A part of the type ${JSON.stringify(type.slice(0, 80))} is not known`)
const metadata = (part: JsonObject) => ({ providerMetadata: objectOf(part, 'providerMetadata') })

function readNamed(part: JsonObject, type: string, { at }: InvocationContext): ReadPart {
  if (type.startsWith('tool-') && type !== 'tool-') return readToolPart(part, at)
  if (type.startsWith('data-') && type !== 'data-' && part.data !== undefined) {
    const name = type.slice('data-'.length)
    return withDefined({ type: 'data', name, data: part.data } as const, { id: idOf(part, 'id') })
  }
  return unknownPart(type)
}

function readText(type: OldText['type'], text: string | undefined, part: JsonObject): ReadPart {
  if (text === undefined) return unreadable(`A ${type} part has no text`)
  const block = type === 'reasoning' ? idOf(part, 'id') : undefined
  return withDefined({ type, text }, { block, ...metadata(part) })
}

/** AI SDK 4 has the text in `reasoning`, and the same in pieces in `details`. */
function readReasoning(part: JsonObject): string | undefined {
  const text = textOf(part, 'text', 'reasoning')
  if (text !== undefined || !Array.isArray(part.details)) return text
  return (part.details as readonly Json[])
    .flatMap((detail) => (isJsonObject(detail) ? (textOf(detail, 'text') ?? []) : []))
    .join('')
}

function readSource(source: JsonObject, type: string): ReadPart {
  const sourceId = idOf(source, 'sourceId', 'id')
  const url = textOf(source, 'url')
  const title = textOf(source, 'title')
  if (type === 'source-document' || (url === undefined && source.sourceType === 'document')) {
    return withDefined(
      {
        type: 'source-document',
        sourceId: sourceId ?? title ?? '',
        mediaType: textOf(source, 'mediaType') ?? 'application/octet-stream',
        title: title ?? '',
      } as const,
      { filename: textOf(source, 'filename'), ...metadata(source) },
    )
  }
  if (url === undefined) return unreadable('A source has no address')
  return withDefined({ type: 'source-url', sourceId: sourceId ?? url, url } as const, {
    title,
    ...metadata(source),
  })
}
