import type { Paths } from '../paths.ts'
import type { AppendPlan, PlannedCall } from '../plan-append.ts'
import type { PlannedSeal } from '../plan-seals.ts'
import type { MessageId, ThreadId } from '../../core/ids.ts'
import type { Append, LeaseUse } from '../store.ts'
import { toPlainText } from './plain-text.ts'
import { planPlaces } from './plan-places.ts'

export interface PlannedAppend {
  readonly append: Append
  readonly plan: AppendPlan
  readonly seals: Seals
}
/** A JSON text has no control character of its own; between the lines of a pack are line breaks. */
export const textSeparator = '\u001e'

type Seals = ReadonlyMap<MessageId, PlannedSeal>

/** The arguments of `commit_appends`: threads, those to make, what to do in each, packs, all texts. */
export function encodeAppends(group: readonly PlannedAppend[]): readonly unknown[] {
  const texts: string[] = []
  // Places of texts, appends and facts are counted from 1, as PostgreSQL counts.
  const pack: Pack = (text) => (text == null ? undefined : texts.push(text))

  const events = group.flatMap(({ plan, seals }, index) =>
    plan.packs
      .filter(({ turnId }) => turnId === null || !seals.has(turnId))
      .map(({ offset, size, turnId, at, payload }) => ({
        nth: index + 1,
        place: offset + size,
        size,
        turn: turnId,
        at,
        payload: pack(payload),
      })),
  )
  const wide = group.map((planned) => encodeWide(planned, pack))
  const appends = group.map(({ append, plan }, index) => ({
    nth: index + 1,
    thread: append.threadId,
    size: plan.size,
    expected: append.expectedSeq,
    title: plan.title === null ? undefined : toPlainText(plan.title),
    at: plan.activityAt ?? undefined,
    ...encodeCreate(append.create),
    ...encodeLease(append.lease),
    turns: unlessEmpty([...plan.turns].map(([id, { paths }]) => encodePaths(id, paths))),
    ...wide[index],
  }))
  return [
    group.map(({ append }) => append.threadId),
    unlessEmpty(namesToMake(group)),
    JSON.stringify(appends),
    events.length === 0 ? undefined : JSON.stringify(events),
    texts.join(textSeparator),
    wide.some((more) => Object.values(more).some((list) => list !== undefined)),
  ]
}

/** What only some appends have; without any of it, a group takes the short way. */
function encodeWide({ append, plan, seals }: PlannedAppend, pack: Pack) {
  const { shown, retired, retiredAt } = planPlaces(append.events)
  // Its end is written with its body, not before it, and need not be looked for.
  const isSealing = (id: MessageId) => {
    const seal = seals.get(id)
    const statuses = [...(plan.turns.get(id)?.paths.values() ?? [])]
    return seal?.isBorn === false && statuses.every((status) => status === 'ended')
  }
  return {
    shown: unlessEmpty(shown),
    retired: unlessEmpty(retired),
    messages: unlessEmpty(encodeMessages(plan, seals, retiredAt, pack)),
    calls: unlessEmpty([...plan.calls].map(([id, call]) => encodeCall(id, call, pack))),
    moves: unlessEmpty(encodeMoves(plan, isSealing)),
    ending: unlessEmpty([...plan.turns].flatMap(([id, turn]) => (turn.ends ? [id] : []))),
    seal: unlessEmpty((append.seal ?? []).filter((id) => !isSealing(id))),
    folded: unlessEmpty(encodeSeals(seals, pack)),
  }
}

/** Those that begin here too are written as messages with a body. */
const encodeSeals = (seals: Seals, pack: Pack): readonly object[] =>
  [...seals].flatMap(([id, { body, lastOffset, isBorn }]) =>
    isBorn ? [] : [{ id, body: pack(body), reached: lastOffset + 1 }],
  )

/** The threads that these appends may make. */
export const namesToMake = (group: readonly PlannedAppend[]): readonly ThreadId[] =>
  group.flatMap(({ append }) => (append.create === undefined ? [] : [append.threadId]))

const encodeCreate = (create: Append['create']): object =>
  create === undefined
    ? {}
    : { owner: create.ownerId, first_title: toPlainText(create.title), made_at: create.at }

function encodeLease(use: LeaseUse | undefined): object {
  switch (use?.kind) {
    case undefined:
      return {}
    case 'acquire':
      return {
        lease: 'acquire',
        holder: toPlainText(use.holder),
        turn: use.turnId,
        ms: use.ttlMs,
        fence: use.overFence,
      }
    case 'hold':
      return { lease: 'hold', fence: use.fence, ms: use.renewMs }
    case 'release':
      return { lease: 'release', fence: use.fence }
  }
}

type Pack = (text: string | null | undefined) => number | undefined

function encodeMessages(
  { messages, turns }: AppendPlan,
  seals: Seals,
  retiredAt: ReadonlyMap<number, number>,
  pack: Pack,
): readonly object[] {
  return messages.map(({ id, offset, role, at, body }) => {
    // A turn that begins here is written as what it is when the append is done.
    const sealed = role === 'assistant' ? seals.get(id) : undefined
    const reached = sealed === undefined ? offset + 1 : sealed.lastOffset + 1
    const written = pack(body ?? sealed?.body)
    return {
      id,
      place: offset + 1,
      role,
      status: role === 'assistant' ? turns.get(id)?.paths.get('absent') : undefined,
      at,
      body: written,
      reached: written === undefined ? undefined : reached,
      retired: retiredAt.get(offset + 1),
    }
  })
}

function encodeCall(id: string, call: PlannedCall, pack: Pack): object {
  return {
    ...encodePaths(id, call.paths),
    turn: call.turnId,
    place: call.offset + 1,
    name: call.name === null ? undefined : toPlainText(call.name),
    input: pack(call.input),
    output: pack(call.output),
    model: pack(call.modelOutput),
  }
}

/** Turns that exist and may come to another status: most appends only look at theirs. */
function encodeMoves(
  { turns }: AppendPlan,
  isSealing: (id: MessageId) => boolean,
): readonly object[] {
  return [...turns].flatMap(([id, { paths }]) => {
    if (isSealing(id)) return []
    const moves = [...paths].some(([from, to]) => from !== 'absent' && from !== to)
    return moves ? [encodePaths(id, paths)] : []
  })
}

const encodePaths = <State extends string>(id: string, paths: Paths<State>) => ({
  id,
  paths: Object.fromEntries(paths),
})

const unlessEmpty = <Item>(items: readonly Item[]): readonly Item[] | undefined =>
  items.length === 0 ? undefined : items
