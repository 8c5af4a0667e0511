/** What reading old data has to tell, and where: `messages[3]` is a place in the list that was read. */
export interface Report {
  mend(index: number, what: string): void
  guess(index: number, what: string): void
  fail(index: number, why: string): void
  readonly mended: readonly Mended[]
  readonly guessed: readonly Mended[]
  readonly failed: readonly Failed[]
}

/** Stored, but otherwise than it stood there; or a guess, where the data does not say. */
export interface Mended {
  readonly where: string
  readonly what: string
}
/** Not stored. */
export interface Failed {
  readonly where: string
  readonly why: string
}

export function createReport(
  placeOf: (index: number) => string = (index) => `messages[${index}]`,
): Report {
  const mended: Mended[] = []
  const guessed: Mended[] = []
  const failed: Failed[] = []
  return {
    mend: (index, what) => mended.push({ where: placeOf(index), what }),
    guess: (index, what) => guessed.push({ where: placeOf(index), what }),
    fail: (index, why) => failed.push({ where: placeOf(index), why }),
    mended,
    guessed,
    failed,
  }
}
