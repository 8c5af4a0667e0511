import { createHash } from 'node:crypto'
import type { Json } from '../../core/json.ts'

/** Identifies the arguments that were decided on (AP7): the SHA-256 of the arguments as JSON text. */
export const hashInput = (input: Json): string =>
  createHash('sha256').update(JSON.stringify(input)).digest('hex')
