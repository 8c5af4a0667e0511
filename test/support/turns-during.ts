import { vi } from 'vitest'

/**
 * Runs `work`, and counts the turns of the event loop that others had meanwhile. `msPerLook`: it runs on a clock that is so much
 * later at each look, so that how fast the machine is does not decide.
 */
export async function turnsDuring<Result>(
  work: () => Promise<Result>,
  { msPerLook = 10 }: { readonly msPerLook?: number } = {},
): Promise<{ readonly turns: number; readonly result: Result }> {
  let ms = 0
  const time = vi.spyOn(performance, 'now').mockImplementation(() => (ms += msPerLook))
  let turns = 0
  let isOver = false
  const turn = () => {
    if (isOver) return
    turns++
    setImmediate(turn)
  }
  setImmediate(turn)
  try {
    const result = await work()
    return { turns, result }
  } finally {
    isOver = true
    time.mockRestore()
  }
}
