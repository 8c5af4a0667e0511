import type { JsonObject } from '../core/json.ts'
import type { UserPart } from '../core/message.ts'
import { withDefined } from '../core/with-defined.ts'
import { objectOf, textOf } from './old-fields.ts'

export type ReadFile = Omit<Extract<UserPart, { readonly type: 'file' }>, 'type'>

/** A file or a picture in any spelling. `undefined`: there is neither an address nor bytes. */
export function readFile(file: JsonObject): ReadFile | undefined {
  const told = textOf(file, 'mediaType', 'contentType', 'mimeType')
  const bytes = textOf(file, 'data', 'image')
  const address = textOf(file, 'url') ?? textOf(objectOf(file, 'image_url') ?? {}, 'url')
  const url = address ?? (bytes === undefined ? undefined : toUrl(bytes, told))
  if (url === undefined) return undefined
  const mediaType = told ?? /^data:([^;,]+)/i.exec(url)?.[1] ?? guessOf(file)
  return withDefined({ mediaType, url }, { filename: textOf(file, 'filename', 'name') })
}

/** AI SDK 4 keeps the bare base64 text; an address is what everything since then takes. */
const toUrl = (data: string, mediaType = 'application/octet-stream'): string =>
  /^[a-z][a-z0-9+.-]*:/i.test(data) ? data : `data:${mediaType};base64,${data}`

const guessOf = ({ type }: JsonObject): string =>
  type === 'image' || type === 'image_url' ? 'image/*' : 'application/octet-stream'
