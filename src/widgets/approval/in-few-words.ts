import { isJsonObject, type Json } from '../../core/json.ts'

/** Arguments as far as they tell several calls of one tool apart. */
export const inFewWords = (value: Json): string =>
  (isJsonObject(value) ? Object.values(value) : [value])
    .filter((each) => typeof each === 'string' || typeof each === 'number')
    .join(', ')
    .slice(0, 80)
