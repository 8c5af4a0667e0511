import { isJsonObject, type Json } from '../../core/json.ts'

/** The short values among a call's arguments, in one line: they distinguish several calls of one tool. */
export const summarizeArguments = (value: Json): string =>
  (isJsonObject(value) ? Object.values(value) : [value])
    .filter((each) => typeof each === 'string' || typeof each === 'number')
    .join(', ')
    .slice(0, 80)
