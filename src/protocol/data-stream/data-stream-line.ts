import type { Json } from '../../core/json.ts'

/** The codes of the line protocol of AI SDK 3 and 4, by their meaning. */
export const lineCodes = {
  text: '0',
  data: '2',
  error: '3',
  toolCalls: '7',
  annotations: '8',
  toolCall: '9',
  toolResult: 'a',
  toolCallStart: 'b',
  toolCallDelta: 'c',
  finishMessage: 'd',
  finishStep: 'e',
  startStep: 'f',
  reasoning: 'g',
  source: 'h',
  file: 'k',
} as const

type LineCode = (typeof lineCodes)[keyof typeof lineCodes]

export const toLine = (code: LineCode, value: Json): string => `${code}:${JSON.stringify(value)}\n`

/** Null for a line that cannot be parsed. */
export function parseLine(line: string): { readonly code: string; readonly value: Json } | null {
  const colon = line.indexOf(':')
  if (colon <= 0) return null
  try {
    return { code: line.slice(0, colon), value: JSON.parse(line.slice(colon + 1)) as Json }
  } catch {
    return null
  }
}
