import { expect, it } from 'vitest'
import type { NewEvent } from '../core/event.ts'
import { parseMessageId, parseThreadId } from '../core/ids.ts'
import { planRewrite } from './plan-rewrite.ts'

it('[VR1 OP7] each list of versions is written once, and as it is in the end', () => {
  const id = parseMessageId('m')
  const versions = Array.from({ length: 30 }, (_, nth) => ({ id, seq: 1 + 2 * nth }))
  const appends = versions.map(({ seq }, nth): readonly NewEvent[] => {
    const parts = [{ type: 'text', text: `version ${nth}` }] as const
    const added = { type: 'message-added', messageId: id, role: 'user', at: 1, parts } as const
    if (nth === 0) return [added]
    const kept = { after: 0, places: [seq - 2] }
    return [
      { type: 'messages-retired', at: 1, messageIds: [id], kept },
      { ...added, versionOf: versions.slice(0, nth) },
    ]
  })
  const places = appends.flatMap((events, nth) => (events.length === 1 ? [1] : [2 * nth + 1]))
  expect(places).toEqual(versions.map(({ seq }) => seq))
  const threadId = parseThreadId('thread')
  const commits = planRewrite({ threadId, expectedSeq: 0, from: 1, appends })
  const rows = commits.flatMap(({ newMessages, changedMessages }) => [
    ...newMessages,
    ...changedMessages,
  ])
  const lists = rows.filter((row) => row.versions !== null)
  expect(lists.map(({ seq }) => seq).toSorted((one, other) => (one ?? 0) - (other ?? 0))).toEqual(
    places,
  )
  for (const list of lists) expect(list.versions).toEqual(versions)
  // Each but the last is hidden.
  expect(rows.filter((row) => row.retiredSeq !== null)).toHaveLength(versions.length - 1)
})
