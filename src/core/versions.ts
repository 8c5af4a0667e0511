import { HoldfastError } from './holdfast-error.ts'
import type { MessageId, Seq } from './ids.ts'
import { isJsonObject, type Json } from './json.ts'
import type { Message, MessageVersion } from './message.ts'

export type { MessageVersion }

/** A message's versions as views show them (VR1): all ids, oldest first, and the one that is shown. */
export interface ShownVersions {
  readonly ids: readonly string[]
  readonly shown: string
}

/**
 * The id by which clients refer to a version. A turn's own id is unique; an edit may keep the id of a user's
 * message, so there the seq is part of it.
 */
export const toVersionId = (role: Message['role'], { id, seq }: MessageVersion): string =>
  role === 'assistant' ? id : `${id}@${seq}`

/** Undefined: the message has no other versions. */
export function versionsOf(message: Message): ShownVersions | undefined {
  const { role, versions } = message
  if (versions === undefined || versions.length < 2) return undefined
  return {
    ids: versions.map((version) => toVersionId(role, version)),
    shown: toVersionId(role, message),
  }
}

/** All versions after one more was made. Undefined: it is the first. */
export const addVersion = (
  earlier: readonly MessageVersion[] | undefined,
  own: MessageVersion,
): readonly MessageVersion[] | undefined =>
  earlier === undefined || earlier.length === 0 ? undefined : [...earlier, own]

/** Each version names all others, so what they take is their square (OP7). */
export const mostVersions = 100

/**
 * The versions of a message before another one is made: an edit or a regenerated answer stores them as its
 * `versionOf`. Throws if there may be no more.
 */
export function earlierVersions({ id, seq, versions }: Message): readonly MessageVersion[] {
  const earlier = versions ?? [{ id, seq }]
  if (earlier.length < mostVersions) return earlier
  const text = `This message has ${mostVersions} versions already. Nothing was stored.`
  throw new HoldfastError('conflict', text)
}

/** All versions after one was withdrawn, which is no version any more (VR1). Empty: one is left, and has no others. */
export const removeVersion = (
  versions: readonly MessageVersion[],
  withdrawn: Seq,
): readonly MessageVersion[] => {
  const left = versions.filter(({ seq }) => seq !== withdrawn)
  return left.length < 2 ? [] : left
}

/**
 * The same message with the versions of its row, which are newer than those of the events that it was folded
 * from.
 */
export function withVersions<M extends Message>(
  message: M,
  versions: readonly MessageVersion[] | null = null,
): M {
  if (versions !== null && versions.length > 0) return { ...message, versions }
  if (message.versions === undefined) return message
  const { versions: _, ...rest } = message
  return rest as M
}

/** A version's id as a client sent it: the message, and its seq if the id contains one. */
export interface VersionRef {
  readonly id: MessageId
  readonly seq: Seq | null
}

/**
 * An id can be parsed in two ways, since a message's own id may end in `@` and a number. The more specific
 * one comes first.
 */
export function parseVersionId(text: string): readonly VersionRef[] {
  const whole: VersionRef = { id: text, seq: null }
  const placed = /^(.+)@([1-9]\d{0,14})$/su.exec(text)
  return placed === null ? [whole] : [{ id: placed[1] as MessageId, seq: Number(placed[2]) }, whole]
}

/** Removes the versions from metadata that a client sent back: only the ledger may set them (VR1). */
export function withoutVersions(metadata: Json | undefined): Json | undefined {
  if (!isJsonObject(metadata) || !isJsonObject(metadata.versions)) return metadata
  const { versions, ...rest } = metadata
  if (!Array.isArray(versions.ids) || typeof versions.shown !== 'string') return metadata
  return Object.keys(rest).length === 0 ? undefined : rest
}
