import type { ThreadItem } from 'holdfast/client'

export interface ThreadGroup {
  readonly name: string
  readonly items: readonly ThreadItem[]
}

const dayMs = 86_400_000

/** By the day of their last activity, in the order they come. */
export function groupThreads(threads: readonly ThreadItem[], now: number): readonly ThreadGroup[] {
  const today = new Date(now).setHours(0, 0, 0, 0)
  const nameOf = ({ updatedAt }: ThreadItem): string => {
    const at = Date.parse(updatedAt)
    if (at >= today) return 'Today'
    if (at >= today - dayMs) return 'Yesterday'
    return at >= today - 7 * dayMs ? 'Last 7 days' : 'Earlier'
  }
  return [...Map.groupBy(threads, nameOf)].map(([name, items]) => ({ name, items }))
}
