/** The AI SDK's finish reasons, and two of Holdfast's own for a step that was cut short from outside. */
export type FinishReason =
  | 'stop'
  | 'length'
  | 'content-filter'
  | 'tool-calls'
  | 'error'
  | 'other'
  | 'stopped'
  | 'interrupted'

/** The tokens of a model call, as far as the provider reported them: an absent number is unknown, not zero. */
export interface Usage {
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly totalTokens?: number
  /** Contained in `outputTokens`. */
  readonly reasoningTokens?: number
  /** Contained in `inputTokens`. */
  readonly cachedInputTokens?: number
}

const fields = [
  'inputTokens',
  'outputTokens',
  'totalTokens',
  'reasoningTokens',
  'cachedInputTokens',
] as const

/** A number that no step reported stays unreported: unknown is not zero. */
export function addUsage(left: Usage, right: Usage | undefined): Usage {
  if (right === undefined) return left
  const sum: { -readonly [Field in keyof Usage]: Usage[Field] } = { ...left }
  for (const field of fields) {
    const more = right[field]
    if (more !== undefined) sum[field] = (sum[field] ?? 0) + more
  }
  return sum
}
