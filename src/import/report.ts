/** What reading old data has to tell: what was mended, and what could not be read. */
export interface Report {
  mend(index: number, what: string): void
  fail(index: number, why: string): void
  readonly mended: readonly Mended[]
  readonly failed: readonly Failed[]
}

/** `where` is the place in the list that was read: `messages[3]`. */
export interface Mended {
  readonly where: string
  readonly what: string
}
export interface Failed {
  readonly where: string
  readonly why: string
}

export function createReport(): Report {
  const mended: Mended[] = []
  const failed: Failed[] = []
  const placeOf = (index: number) => `messages[${index}]`
  return {
    mend: (index, what) => mended.push({ where: placeOf(index), what }),
    fail: (index, why) => failed.push({ where: placeOf(index), why }),
    mended,
    failed,
  }
}
