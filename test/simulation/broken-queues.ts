import type { Append, NewEvent } from 'holdfast'

const readyOf = ({ queue = [] }: Append) => queue.filter(({ held }) => !held)

/** Where the first of those that wait gets its turn, the second gets it. */
export function answerSecond(append: Append): Append {
  const [first, second] = readyOf(append)
  if (first === undefined || second === undefined) return append
  return {
    ...append,
    events: append.events.map((event): NewEvent => {
      if (event.type === 'message-added' && event.messageId === first.id) {
        return { ...event, messageId: second.id, parts: second.parts }
      }
      return event.type === 'turn-started' && event.replyTo === first.id
        ? { ...event, replyTo: second.id }
        : event
    }),
  }
}

/** The end of a turn without the turn that follows it. */
export function leaveWaiting(append: Append): Append {
  const { events, lease } = append
  const end = events.findIndex(({ type }) => type === 'turn-ended')
  const isFollowed = lease?.kind === 'acquire' && lease.overFence !== undefined
  if (end === -1 || !isFollowed || readyOf(append).length === 0) return append
  const release = { kind: 'release', fence: lease.overFence } as const
  return { ...append, events: events.slice(0, end + 1), lease: release }
}

/** What waits joins the turn in the moment in which a tool begins. */
export function joinEarly(append: Append): Append {
  const [input] = readyOf(append)
  const started = append.events.find((event) => event.type === 'call-started')
  if (input === undefined || started === undefined) return append
  const { turnId, at } = started
  const joined = {
    type: 'input-joined',
    turnId,
    messageId: input.id,
    parts: input.parts,
    at,
  } as const
  return { ...append, events: [...append.events, joined] }
}

/** What waits is stored to wait a second time with the next change of the queue. */
export function queueTwice(append: Append): Append {
  const [input] = readyOf(append)
  const changed = append.events.find(({ type }) => type === 'input-queued')
  if (input === undefined || changed === undefined) return append
  const { held: _, at, ...given } = input
  return { ...append, events: [...append.events, { type: 'input-queued', input: given, at }] }
}
