import { toProviderMetadata } from '../core/provider-metadata.ts'
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import type { PausableWork } from '../core/pausable-work.ts'
import { withDefined } from '../core/with-defined.ts'
import {
  dateOf,
  fieldOf,
  idOf,
  listOf,
  objectOf,
  partListOf,
  stepOf,
  textOf,
} from './old-fields.ts'
import {
  hasEnded,
  type MessagePart,
  type OldText,
  type OldUserMessage,
  type ReportMend,
} from './old-message.ts'
import {
  type InvocationContext,
  readArtifactPart,
  readToolInvocation,
  readToolPart,
  readToolResult,
  type ToolAnswer,
} from './old-call.ts'
import { mergeRepeatedCalls } from './steps.ts'
import { withoutVersions } from '../core/versions.ts'
import type { UserPart } from '../core/message.ts'

/** The parts of an assistant message. One that cannot be read is left out and reported. */
export function* readParts(
  values: readonly Json[],
  context: InvocationContext,
): PausableWork<readonly MessagePart[]> {
  const { mend } = context
  const parts: MessagePart[] = []
  /** The places of the calls that have not ended, by id, the last one last: searched for, thousands would take seconds. */
  const open = new Map<string | undefined, number[]>()
  for (const [index, value] of values.entries()) {
    const part = readPart(value, context)
    if (part.type === 'unreadable') mend(`parts[${index}]: ${part.why}: it was left out.`)
    else if (part.type !== 'answer') {
      if (part.type === 'call' && !hasEnded(part)) {
        const places = open.get(part.id)
        if (places === undefined) open.set(part.id, [parts.length])
        else places.push(parts.length)
      }
      parts.push(part)
    } else {
      const at = open.get(part.callId)?.pop()
      const call = at === undefined ? undefined : parts[at]
      if (at === undefined || call === undefined) {
        mend(`parts[${index}]: A result has no call: it was left out.`)
      } else parts[at] = { ...call, ...part.end }
    }
    yield
  }
  return yield* mergeRepeatedCalls(parts, mend)
}

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
      return readSteering(value, value, context.mend)
    case 'tool-call':
      // In a model message. A UI part of a tool with the name "call" has a state.
      return 'state' in value
        ? readToolPart(value, context.at, context.mend)
        : readToolInvocation(value, context)
    case 'tool-result':
      return 'state' in value
        ? readToolPart(value, context.at, context.mend)
        : readToolResult(value)
    case 'tool-approval-request':
      return 'state' in value ? readToolPart(value, context.at, context.mend) : unknownPart(type)
    case 'artifact':
      return readArtifactPart(value)
    case 'dynamic-tool':
      return readToolPart(value, context.at, context.mend)
    default:
      return readNamed(value, type, context)
  }
}

const unreadable = (why: string): ReadPart => ({ type: 'unreadable', why })
const unknownPart = (type: string): ReadPart =>
  unreadable(`A part of the type ${JSON.stringify(type.slice(0, 80))} is not known`)
const metadata = (part: JsonObject) => ({
  providerMetadata: toProviderMetadata(objectOf(part, 'providerMetadata')),
})

function readNamed(part: JsonObject, type: string, { at, mend }: InvocationContext): ReadPart {
  if (type.startsWith('tool-') && type !== 'tool-') return readToolPart(part, at, mend)
  if (type.startsWith('data-') && type !== 'data-' && part.data !== undefined) {
    const name = type.slice('data-'.length)
    if (name === 'steering' && isJsonObject(part.data)) return readSteering(part, part.data, mend)
    return withDefined({ type: 'data', name, data: part.data } as const, { id: idOf(part, 'id') })
  }
  if (!/^[a-z][\w-]*$/i.test(type)) return unknownPart(type)
  // An unknown part is kept as data, so that nothing that was stored is lost.
  mend(`A part of the type ${JSON.stringify(type.slice(0, 80))} is not known: it is kept as data.`)
  const { type: _, ...data } = part
  return { type: 'data', name: type.slice(0, 80), data }
}

/** An input that joined the running turn (IN3). */
function readSteering(part: JsonObject, steering: JsonObject, mend: ReportMend): ReadPart {
  const id = idOf(steering, 'id')
  if (id === undefined || !Array.isArray(steering.parts)) {
    return { type: 'data', name: 'steering-message', data: part }
  }
  const { parts } = readUserMessage({ parts: steering.parts }, 'user', mend)
  return withDefined({ type: 'steering', id, parts } as const, { step: stepOf(steering) })
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

/** The fields in which a person's message has its files, if not in parts. */
export const fileLists = ['experimental_attachments', 'attachments', 'files'] as const

/** A person's message, in any of the formats. */
export function readUserMessage(
  message: JsonObject,
  role: OldUserMessage['role'],
  mend: ReportMend,
): OldUserMessage {
  const own = partListOf(message)
  const { parts: stored, ...rest } = objectOf(message, 'metadata') ?? {}
  const listed = own.length === 0 && Array.isArray(stored) ? (stored as readonly Json[]) : own
  const parts = listed.flatMap((part, index) => readUserPart(part, index, mend))
  const metadata = listed === own ? fieldOf(message, 'metadata') : rest
  const files = fileLists.flatMap((name) =>
    listOf(message, name).flatMap((file, index) => readAttachment(file, `${name}[${index}]`, mend)),
  )
  return withDefined(
    { kind: 'user', role, parts: [...addContent(parts, message.content), ...files] } as const,
    { id: idOf(message, 'id'), at: dateOf(message), metadata: withoutVersions(metadata) },
  )
}

/** The parts of a person's message that has its text and its files beside each other. */
export const toUserParts = (text: string, message: JsonObject): readonly Json[] => [
  ...(text === '' ? [] : [{ type: 'text', text }]),
  ...listOf(message, 'files').map((file) =>
    isJsonObject(file) ? { ...file, type: 'file' } : file,
  ),
]

/** Text is the fallback: the content is used where the parts have no text. */
function addContent(parts: readonly UserPart[], content: Json | undefined): readonly UserPart[] {
  if (typeof content !== 'string') return parts
  const hasWords = parts.some((part) => part.type === 'text' && part.text.trim() !== '')
  if (hasWords || (content.trim() === '' && parts.some(({ type }) => type === 'text'))) return parts
  return [{ type: 'text', text: content }, ...parts.filter(({ type }) => type !== 'text')]
}

const fileTypes: ReadonlySet<unknown> = new Set(['file', 'image', 'image_url'])

function readUserPart(part: Json, index: number, mend: ReportMend): readonly UserPart[] {
  if (isJsonObject(part)) {
    const text = textOf(part, 'text')
    if (part.type === 'text' && text !== undefined) return [{ type: 'text', text }]
    const file = fileTypes.has(part.type) ? readFile(part) : undefined
    if (file !== undefined) return [{ type: 'file', ...file }]
    if (part.type === 'step-start') return []
  }
  mend(`parts[${index}]: A message of a person has text and files only: it was left out.`)
  return []
}

function readAttachment(value: Json, where: string, mend: ReportMend): readonly UserPart[] {
  const file = isJsonObject(value) ? readFile(value) : undefined
  if (file !== undefined) return [{ type: 'file', ...file }]
  mend(`${where}: It is no file: it was left out.`)
  return []
}

type ReadFile = Omit<Extract<UserPart, { readonly type: 'file' }>, 'type'>

/** A file or an image under any of its names. `undefined`: it has neither a URL nor bytes. */
function readFile(file: JsonObject): ReadFile | undefined {
  const stated = textOf(file, 'mediaType', 'contentType', 'mimeType')
  const bytes = textOf(file, 'data', 'image')
  const address = textOf(file, 'url') ?? textOf(objectOf(file, 'image_url') ?? {}, 'url')
  const url = address ?? (bytes === undefined ? undefined : toUrl(bytes, stated))
  if (url === undefined) return undefined
  const mediaType = stated ?? /^data:([^;,]+)/i.exec(url)?.[1] ?? guessOf(file)
  return withDefined({ mediaType, url }, { filename: textOf(file, 'filename', 'name') })
}

/** AI SDK 4 has bare base64 text; everything since then has a URL. */
const toUrl = (data: string, mediaType = 'application/octet-stream'): string =>
  /^[a-z][a-z0-9+.-]*:/i.test(data) ? data : `data:${mediaType};base64,${data}`

const guessOf = ({ type }: JsonObject): string =>
  type === 'image' || type === 'image_url' ? 'image/*' : 'application/octet-stream'
