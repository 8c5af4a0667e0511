interface FillRequest {
  readonly isWanted: () => boolean
  readonly loadOlder: () => Promise<void>
}

interface OlderFiller {
  /** Whether something is wanted now; asked after every scroll. */
  readonly check: () => void
  /** What there is to ask, from now until the returned function is called. */
  readonly watch: (request: FillRequest) => () => void
}

/**
 * Loads older messages as long as they are wanted, one page at a time. Whether more is wanted is asked
 * only after a page has been drawn and the reader's place kept: before, every place looks like the top.
 */
export function createFiller(): OlderFiller {
  let request: FillRequest | null = null
  let isLoading = false
  const check = () => {
    if (isLoading || request === null || !request.isWanted()) return
    isLoading = true
    request
      .loadOlder()
      // It is asked for again by the next scroll.
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

/** The first frame draws and places what was added, the second has measured it. */
const afterDrawing = (work: () => void): void => {
  requestAnimationFrame(() => requestAnimationFrame(work))
}
