/** Renews a lease for so long; with 0 it is handed over. */
export type Renew = (ms: number) => Promise<void>

/**
 * One renewal in flight at a time, however long it takes: calls meanwhile share one that follows it. They are not answered
 * by the one in flight, which may have read the row before a stop was requested. After a hand-over nothing is renewed, or
 * the lease would bind again.
 */
export function createOneRenewal(send: Renew): Renew {
  let isHandedOver = false
  let current: Promise<void> | null = null
  let next: Promise<void> | null = null
  const start = async (ms: number): Promise<void> => {
    if (isHandedOver && ms > 0) return
    current = send(ms).finally(() => {
      current = null
    })
    await current
  }
  return (ms) => {
    if (ms === 0) isHandedOver = true
    if (next !== null) return next
    if (current === null) return start(ms)
    const follow = () => {
      next = null
      return start(isHandedOver ? 0 : ms)
    }
    next = current.then(follow, follow)
    return next
  }
}
