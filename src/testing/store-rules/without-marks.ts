import type { ThreadRecord } from '../../core/thread.ts'
import type { AppendResult, Changes, FoundTurn, Page } from '../../store/store.ts'

/** Random marks (OP6) differ from store to store and from run to run; everything else is compared whole. */
export function withoutMarks<
  Value extends AppendResult | Page | Changes | FoundTurn | ThreadRecord | null,
>(value: Value): Value {
  if (value === null) return value
  const { incarnation: _, place: _place, edge: _edge, ...rest } = value as Value & Drawn
  if (!('changes' in rest)) return rest as unknown as Value
  const changes = rest.changes.map(({ mark: _mark, ...change }) => change)
  return { ...rest, changes } as unknown as Value
}

type Drawn = Partial<Pick<Changes, 'incarnation' | 'changes'>> &
  Partial<Pick<Page, 'place' | 'edge'>>
