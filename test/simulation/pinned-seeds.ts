/** Seeds that found a bug, each with the bug it found. */
export interface PinnedSeed {
  readonly seed: number
  readonly bug: string
}

export const pinnedSeeds: readonly PinnedSeed[] = [{ seed: 1, bug: 'x' }]
