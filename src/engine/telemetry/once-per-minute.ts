const minuteMs = 60_000

/**
 * Whether something is due that is reported at most once a minute for each kind: code that fails at every step would bury
 * the log. There must be few kinds, as none is forgotten.
 */
export function createOncePerMinute(elapsedMs: () => number): (kind: string) => boolean {
  const last = new Map<string, number>()
  return (kind) => {
    const at = elapsedMs()
    if (at - (last.get(kind) ?? -Infinity) < minuteMs) return false
    last.set(kind, at)
    return true
  }
}
