import { isJsonObject } from '../../core/json.ts'

/** Whether a part has the fields of its type. One without them contains nothing that could be stored. */
export function isSoundPart(part: object): boolean {
  const value = part as { readonly type: string } & Readonly<Record<string, unknown>>
  const has = (...fields: readonly string[]) =>
    fields.every((field) => typeof value[field] === 'string')
  const { toolCall, file } = value
  switch (value.type) {
    case 'text-start':
    case 'text-end':
    case 'reasoning-start':
    case 'reasoning-end':
    case 'tool-input-end':
      return has('id')
    case 'tool-input-start':
      return has('id', 'toolName')
    case 'tool-input-delta':
      return has('id', 'delta')
    case 'tool-call':
      return has('toolCallId', 'toolName')
    case 'tool-result':
    case 'tool-error':
    case 'tool-output-denied':
      return has('toolCallId')
    case 'tool-approval-request':
    case 'tool-approval-response':
      return has('approvalId') && isJsonObject(toolCall) && typeof toolCall.toolCallId === 'string'
    case 'source':
      return value['sourceType'] === 'url' ? has('id', 'url') : has('id', 'mediaType', 'title')
    case 'custom':
      return has('kind')
    case 'file':
    case 'reasoning-file':
      return has('url', 'mediaType') || isSoundFile(file)
    default:
      return true
  }
}

/** The SDK's files compute their content when it is read. */
const isSoundFile = (file: unknown): boolean =>
  isJsonObject(file) && typeof file.mediaType === 'string' && typeof file.base64 === 'string'
