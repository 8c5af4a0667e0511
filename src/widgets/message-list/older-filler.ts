interface FillRequest {
  readonly isWanted: () => boolean
  readonly loadOlder: () => Promise<void>
}

interface OlderFiller {
  /** Checks whether more messages are wanted; called after every scroll. */
  readonly check: () => void
  /** Sets the current request until the returned function is called. */
  readonly watch: (request: FillRequest) => () => void
}

/**
 * Loads older messages as long as they are wanted, one page at a time. Whether more are wanted is checked only after a
 * page has been rendered and the scroll position restored: before, every position looks like the top.
 */
export function createFiller(): OlderFiller {
  let request: FillRequest | null = null
  let isLoading = false
  const check = () => {
    if (isLoading || request === null || !request.isWanted()) return
    isLoading = true
    request
      .loadOlder()
      // The next scroll tries again.
      .catch(() => undefined)
      .finally(() => {
        afterDrawing(() => {
          isLoading = false
          check()
        })
      })
  }
  return {
    check,
    watch(next) {
      request = next
      afterDrawing(check)
      return () => {
        if (request === next) request = null
      }
    },
  }
}

/** The first frame renders and positions the added rows, the second has measured them. */
const afterDrawing = (work: () => void): void => {
  requestAnimationFrame(() => requestAnimationFrame(work))
}
