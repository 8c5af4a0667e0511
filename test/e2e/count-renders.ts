/**
 * Runs in the page before React and counts, for each message, how often React has drawn it: React
 * tells whoever sits where its developer tools would sit about every commit.
 */
export function countRenders(): void {
  interface Fiber {
    readonly flags: number
    readonly alternate: Fiber | null
    readonly child: Fiber | null
    readonly sibling: Fiber | null
    readonly return: Fiber | null
    readonly memoizedProps: Record<string, unknown> | null
  }
  const performedWork = 1
  const renders: Record<string, number> = {}
  Object.assign(globalThis, { renders })

  const visit = (fiber: Fiber | null) => {
    for (let at = fiber; at !== null; at = at.sibling) {
      const id = at.memoizedProps?.['data-message-id']
      const component = at.return
      // A part of the tree that React did not touch keeps its old fibers, flags included.
      if (typeof id === 'string' && component !== null && component.alternate !== null) {
        const drawn = (component.flags & performedWork) !== 0
        if (drawn) renders[id] = (renders[id] ?? 0) + 1
      }
      visit(at.child)
    }
  }
  Object.assign(globalThis, {
    __REACT_DEVTOOLS_GLOBAL_HOOK__: {
      supportsFiber: true,
      inject: () => 1,
      onCommitFiberUnmount: () => {},
      onPostCommitFiberRoot: () => {},
      onCommitFiberRoot: (_: number, root: { readonly current: Fiber }) => visit(root.current),
    },
  })
}
