import type { Json, JsonObject } from '../../core/json.ts'
import type { ItemPart, UserPart } from '../../core/message.ts'
import type { Usage } from '../../core/usage.ts'
import { withDefined } from '../../core/with-defined.ts'
import type { Random } from '../random.ts'

const words = [
  'the',
  'weather',
  'in',
  'Oslo',
  'is',
  '20°',
  '😀',
  '👩‍👩‍👧‍👦',
  'e\u0301',
  'שלום',
  '日本語',
  '"quoted"',
  'back\\slash',
  '<b>tag</b>',
  '\n\n',
  '\t',
  '0:',
  'data:',
  '[DONE]',
] as const

export function randomText(random: Random, most = 8): string {
  return Array.from({ length: random.int(most + 1) }, () => random.pick(words)).join(' ')
}

/** Pieces that concatenate to the text. A code point is never split between two (LG8). */
export function splitText(random: Random, text: string): readonly string[] {
  const pieces: string[] = []
  let piece = ''
  for (const character of text) {
    piece += character
    if (random.chance(0.15)) {
      pieces.push(piece)
      piece = ''
    }
  }
  if (piece !== '') pieces.push(piece)
  return pieces
}

/** Each is a result (LG9); most have been mistaken for "none" somewhere. */
const bareValues: readonly Json[] = ['', 0, false, null, [], {}, -1.5e-7, true, 'null', '{']

export function randomJson(random: Random, depth = 3): Json {
  if (depth === 0 || random.chance(0.35)) return random.pick(bareValues)
  if (random.chance(0.25)) return randomText(random)
  if (random.chance(0.4)) {
    return Array.from({ length: random.int(4) }, () => randomJson(random, depth - 1))
  }
  return randomObject(random, depth)
}

const keys = ['city', 'q', 'limit', 'a b', '', 'ключ', '"', 'toString', 'type', 'value'] as const

export function randomObject(random: Random, depth = 3): JsonObject {
  const entries = Array.from(
    { length: random.int(4) },
    () => [random.pick(keys), randomJson(random, depth - 1)] as const,
  )
  return Object.fromEntries(entries)
}

export function randomOutput(random: Random): Json {
  return random.chance(0.05) ? 'long '.repeat(5000) : randomJson(random)
}

/** As a model writes it: with or without spaces, with or without escapes. */
export function writeJson(random: Random, value: Json): string {
  const text = JSON.stringify(value, undefined, random.chance(0.3) ? 1 : undefined)
  return random.chance(0.3) ? text.replaceAll(/[^\x20-\x7e\n]/g, escapeUnit) : text
}

const escapeUnit = (unit: string): string =>
  `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Arguments that never become complete: cut off, or not JSON from some position on. */
export function breakJson(random: Random, text: string): string {
  const characters = Array.from(text)
  const cut = characters.slice(0, random.int(characters.length + 1)).join('')
  return cut + random.pick(['', '', '}', '"', ',,', ' tru', '-', '\\u12', '\n', 'Sorry'])
}

export const randomMetadata = (random: Random): JsonObject | undefined =>
  random.chance(0.25)
    ? { demo: { itemId: `item-${random.int(1000)}`, extra: random.pick(bareValues) } }
    : undefined

export const randomUsage = (random: Random): Usage | undefined =>
  random.chance(0.7)
    ? { inputTokens: random.int(500), outputTokens: random.int(200), totalTokens: random.int(700) }
    : undefined

const pixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

export function randomUserParts(random: Random): readonly UserPart[] {
  const parts: UserPart[] = []
  if (random.chance(0.95)) parts.push({ type: 'text', text: randomText(random) })
  if (random.chance(0.15)) {
    const filename = random.chance(0.5) ? 'pixel.png' : undefined
    parts.push(
      withDefined({ type: 'file', mediaType: 'image/png', url: pixel } as const, { filename }),
    )
  }
  if (random.chance(0.1)) parts.push({ type: 'text', text: randomText(random) })
  return parts
}

export function randomItem(random: Random): ItemPart {
  const providerMetadata = randomMetadata(random)
  const title = random.chance(0.5) ? randomText(random) : undefined
  const sourceId = `source-${random.int(9)}`
  switch (random.int(9)) {
    case 0:
      return withDefined({ type: 'source-url', sourceId, url: 'https://example.com/a' } as const, {
        title,
        providerMetadata,
      })
    case 1:
      return withDefined(
        {
          type: 'source-document',
          sourceId,
          mediaType: 'application/pdf',
          title: 'A paper',
        } as const,
        { filename: title, providerMetadata },
      )
    case 2:
      return withDefined({ type: 'file', url: pixel, mediaType: 'image/png' } as const, {
        providerMetadata,
      })
    case 3:
      return withDefined({ type: 'reasoning-file', url: pixel, mediaType: 'image/png' } as const, {
        providerMetadata,
      })
    case 4:
      return withDefined({ type: 'custom', kind: 'demo.note' } as const, { providerMetadata })
    default:
      return withDefined(
        { type: 'data', name: random.pick(['chart', 'note']), data: randomJson(random) } as const,
        // Few ids, so that a later item often replaces an earlier one.
        { id: random.chance(0.7) ? random.pick(['one', 'two']) : undefined },
      )
  }
}
