import type { NewEvent } from '../../core/event.ts'
import type { TurnEnding } from '../../core/message.ts'

/**
 * What can happen in a simulation. A batch of seeds in which one of these never happened has not tested it,
 * so a zero counts as a failure.
 */
export const coverageKinds = [
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
  'notification-late',
  'notification-twice',
  'notification-lost',
  'message',
  'message-repeated',
  'message-refused',
  'input-queued',
  'input-steered',
  'input-interrupted',
  'input-withdrawn',
  'queue-held',
  'queue-released',
  'queue-changed',
  'edit',
  'regenerate',
  'show',
  'fork',
  'feedback',
  'share',
  'fork-deleted',
  'file-uploaded',
  'file-collected',
  'file-sent',
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
  'step-resumed',
  'viewer-drop',
  'viewer-resume',
  'viewer-resume-elsewhere',
  'viewer-reload',
  'page-walk',
] as const

/** One of {@link coverageKinds}. */
export type CoverageKind = (typeof coverageKinds)[number]
/** How often each kind happened. */
export type Coverage = Readonly<Record<CoverageKind, number>>

export interface CoverageCounter {
  readonly coverage: Coverage
  readonly count: (kind: CoverageKind) => void
}

export function createCoverageCounter(): CoverageCounter {
  const coverage = emptyCoverage()
  return {
    coverage,
    count(kind) {
      coverage[kind] += 1
    },
  }
}

/** All counters at zero, to be added to. */
export const emptyCoverage = (): Record<CoverageKind, number> =>
  Object.fromEntries(coverageKinds.map((kind) => [kind, 0])) as Record<CoverageKind, number>

/** Adds the counters of one seed to a sum. */
export function addCoverage(sum: Record<CoverageKind, number>, more: Coverage): void {
  for (const kind of coverageKinds) sum[kind] += more[kind]
}

/** The kinds that a stored event counts for. */
export function kindsOfEvent(event: NewEvent): readonly CoverageKind[] {
  switch (event.type) {
    case 'message-added':
      return ['message']
    case 'input-queued':
      return event.input.mode === 'interrupt' ? ['input-interrupted'] : ['input-queued']
    case 'input-joined':
      return ['input-steered']
    case 'input-withdrawn':
    case 'queue-held':
    case 'queue-released':
      return [event.type]
    case 'step-abandoned':
      return ['step-abandoned']
    case 'step-resumed':
      return ['step-resumed']
    case 'call-decided':
      return event.editedInput === undefined ? ['decision'] : ['decision', 'decision-edited']
    case 'call-resolved':
      return [`resolve-${event.resolution.kind}`]
    case 'call-settled': {
      const { outcome } = event
      if (outcome.state === 'unknown') return ['unknown-outcome']
      return outcome.state === 'failed' && outcome.cause === 'timeout' ? ['tool-timeout'] : []
    }
    case 'turn-ended':
      return endingKinds[event.ending.kind] ?? []
    default:
      return []
  }
}

const endingKinds: Partial<Readonly<Record<TurnEnding['kind'], readonly CoverageKind[]>>> = {
  superseded: ['supersede'],
  failed: ['model-failed'],
  'cut-off': ['model-cut-off'],
  'step-limit': ['step-limit'],
}
