/**
 * Seeds that found a bug, each with the bug it found. What happens in a seed shifts when the engine
 * or the simulation changes; each was seen to fail with its fix taken out again.
 */
export interface PinnedSeed {
  readonly seed: number
  readonly bug: string
}

export const pinnedSeeds: readonly PinnedSeed[] = [
  {
    seed: 67,
    bug: 'a stop was asked of a run that was then taken over, and was answered while it ran on',
  },
  {
    seed: 1039,
    bug: 'a late word on an old turn began a run behind newer messages, and nobody found it when it died',
  },
  {
    seed: 278,
    bug: 'a process died between storing the last decision and going on, and the turn waited for nobody',
  },
  { seed: 240, bug: 'a lease that could not be renewed once failed the turn' },
  {
    seed: 3036,
    bug: 'a decision came in while the pause was in flight, and the turn waited for what was decided',
  },
  {
    seed: 530,
    bug: 'a message sent again while its answer was made anew was said to have none',
  },
  { seed: 4804, bug: 'recovery took a run from a process that had just renewed its lease' },
  { seed: 554, bug: 'a write failed, and what followed was stored without it' },
  {
    seed: 9_503_630,
    bug: 'a call was opened again after a later step broke off, and the model was called before it had run',
  },
  {
    seed: 1587,
    bug: 'a run was found dead before the next turn began, and the lease that was released was that of the next turn',
  },
]
