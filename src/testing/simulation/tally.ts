/** What a run must contain to have tested anything; a kind that never happened is a failure. */
export const kinds = [
  'crash-before-commit',
  'crash-after-commit',
  'crash-anywhere',
  'stall',
  'hand-over',
  'restart',
  'takeover',
  'late-write-refused',
  'failed-write',
  'ambiguous-write',
  'failed-read',
  'hint-late',
  'hint-twice',
  'hint-lost',
  'message',
  'message-repeated',
  'message-refused',
  'edit',
  'regenerate',
  'continue',
  'stop',
  'stop-from-elsewhere',
  'stop-waiting',
  'supersede',
  'decision',
  'decision-race',
  'decision-lost',
  'decision-edited',
  'decision-invalid',
  'decision-batch',
  'client-output',
  'unknown-outcome',
  'resolve-retry',
  'resolve-done',
  'resolve-skip',
  'tool-run',
  'tool-repeated',
  'tool-timeout',
  'model-failed',
  'model-retried',
  'model-cut-off',
  'step-limit',
  'step-abandoned',
  'viewer-drop',
  'viewer-resume',
  'viewer-resume-elsewhere',
  'viewer-reload',
  'page-walk',
] as const

export type Kind = (typeof kinds)[number]
export type Tally = Readonly<Record<Kind, number>>

export interface Counter {
  readonly tally: Tally
  readonly count: (kind: Kind) => void
}

export function createCounter(): Counter {
  const tally = emptyTally()
  return {
    tally,
    count(kind) {
      tally[kind] += 1
    },
  }
}

export const emptyTally = (): Record<Kind, number> =>
  Object.fromEntries(kinds.map((kind) => [kind, 0])) as Record<Kind, number>

export function addTally(sum: Record<Kind, number>, more: Tally): void {
  for (const kind of kinds) sum[kind] += more[kind]
}
