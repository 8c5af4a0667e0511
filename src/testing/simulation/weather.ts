import type { HoldfastOptions } from '../../engine/options.ts'
import type { Random } from '../random.ts'

/** What a seed has in store: how many there are of everything, and how often what goes wrong. */
export interface Weather {
  readonly processes: number
  readonly threads: number
  readonly viewers: number
  readonly deeds: number
  /** Whether the store can tell that a holder is dead, or must wait for its lease to run out. */
  readonly noticesDeath: boolean
  /** Chances, each per store call. */
  readonly crash: number
  readonly failedWrite: number
  readonly ambiguousWrite: number
  readonly failedRead: number
  readonly slow: number
  readonly lateNotification: number
  readonly lostNotification: number
  readonly options: Pick<
    HoldfastOptions,
    | 'maxSteps'
    | 'toolConcurrency'
    | 'textDelayMs'
    | 'leaseMs'
    | 'recoverEveryMs'
    | 'retryDelayMs'
    | 'recovery'
    | 'unknownOutcome'
  >
}

export function randomWeather(random: Random): Weather {
  const isCalm = random.chance(0.15)
  const sometimes = (probability: number, chance: number): number =>
    !isCalm && random.chance(probability) ? chance : 0
  return {
    processes: 1 + random.int(3),
    threads: random.chance(0.2) ? 2 : 1,
    viewers: 1 + random.int(3),
    deeds: 5 + random.int(14),
    noticesDeath: random.chance(0.6),
    crash: sometimes(0.6, random.pick([0.01, 0.03, 0.08])),
    failedWrite: sometimes(0.35, random.pick([0.02, 0.08])),
    ambiguousWrite: sometimes(0.35, random.pick([0.02, 0.08])),
    failedRead: sometimes(0.25, random.pick([0.01, 0.04])),
    slow: sometimes(0.3, 0.05),
    lateNotification: sometimes(0.5, 0.3),
    lostNotification: sometimes(0.4, 0.1),
    options: {
      maxSteps: 2 + random.int(4),
      toolConcurrency: 1 + random.int(3),
      textDelayMs: random.pick([0, 10, 25]),
      leaseMs: 3_000,
      recoverEveryMs: 1_000,
      retryDelayMs: 100,
      recovery: random.chance(0.85) ? 'continue' : 'end',
      unknownOutcome: random.chance(0.85) ? 'wait' : 'tell-model',
    },
  }
}

/** Nothing goes wrong. */
export const fairWeather = (weather: Weather): Weather => ({
  ...weather,
  crash: 0,
  failedWrite: 0,
  ambiguousWrite: 0,
  failedRead: 0,
  slow: 0,
  lateNotification: 0,
  lostNotification: 0,
})
