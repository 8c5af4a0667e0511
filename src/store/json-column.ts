import type { JsonColumn } from './audit.ts'
import { parseStoredJson } from './stored-output.ts'

export function judgeJson(text: string | null): JsonColumn {
  if (text === null) return 'none'
  return parseStoredJson(text) === undefined ? 'broken' : 'json'
}
