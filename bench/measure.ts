/** One thing to time: what it is called, and one round of it. */
export interface SystemUnderTest {
  readonly name: string
  /** May give the time that it took, where it knows it better. */
  readonly run: () => unknown
}

export interface Measured {
  readonly name: string
  readonly medianMs: number
}

/**
 * Times systemsUnderTest in turns, round by round, so that a noisy moment of the machine meets all of them,
 * and gives the median of each. Only ratios of one run mean anything.
 */
export async function measure(
  systemsUnderTest: readonly SystemUnderTest[],
  rounds: number,
  /** Rounds that do not count: a server has compiled its code long before. */
  warmUps = 1,
): Promise<readonly Measured[]> {
  const times = systemsUnderTest.map((): number[] => [])
  for (let round = -warmUps; round < rounds; round++) {
    for (const [index, { run }] of systemsUnderTest.entries()) {
      const start = performance.now()
      const taken = await run()
      const elapsed = typeof taken === 'number' ? taken : performance.now() - start
      if (round >= 0) times[index]?.push(elapsed)
    }
  }
  return systemsUnderTest.map(({ name }, index) => ({ name, medianMs: median(times[index] ?? []) }))
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

export interface Row {
  readonly what: string
  readonly measured: string
  readonly ratio?: number
  readonly bar?: number
}

/**
 * Prints a table. A ratio over its bar is marked and makes the process end with 1, after all of its tables: nothing else
 * notices that the server has become slow or large.
 */
export function printTable(title: string, rows: readonly Row[]): void {
  const cells = rows.map(({ what, measured, ratio, bar }) => [
    what,
    measured,
    ratio === undefined ? '' : `${ratio.toFixed(2)} ×`,
    bar === undefined ? '' : `≤ ${bar} ×`,
    ratio === undefined || bar === undefined ? '' : ratio <= bar ? 'ok' : 'OVER',
  ])
  if (cells.some((row) => row.includes('OVER'))) process.exitCode = 1
  const widths = [0, 1, 2, 3, 4].map((column) =>
    Math.max(...cells.map((row) => row[column]?.length ?? 0)),
  )
  console.log(`\n${title}`)
  for (const row of cells) {
    console.log(
      `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd(),
    )
  }
}

export const ms = (value: number): string =>
  value < 1 ? `${(value * 1_000).toFixed(0)} µs` : `${value.toFixed(2)} ms`
