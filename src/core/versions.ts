import type { MessageId, Seq } from './ids.ts'
import { isJsonObject, type Json } from './json.ts'
import type { Message, MessageVersion } from './message.ts'

export type { MessageVersion }

/** What is shown of a message's versions (VR1): the id of each in the order of making, and which is this one. */
export interface ShownVersions {
  readonly ids: readonly string[]
  readonly shown: string
}

/**
 * The id by which a version is asked for. A turn's own id is unique; an edit may keep the id of a user's
 * message, so there its place is part of it.
 */
export const toVersionId = (role: Message['role'], { id, seq }: MessageVersion): string =>
  role === 'assistant' ? id : `${id}@${seq}`

/** Undefined: the message is the only one of its kind at its place. */
export function versionsOf(message: Message): ShownVersions | undefined {
  const { role, versions } = message
  if (versions === undefined || versions.length < 2) return undefined
  return {
    ids: versions.map((version) => toVersionId(role, version)),
    shown: toVersionId(role, message),
  }
}

/** All versions there are once one more has been made. Undefined: it is another version of nothing. */
export const addVersion = (
  earlier: readonly MessageVersion[] | undefined,
  own: MessageVersion,
): readonly MessageVersion[] | undefined =>
  earlier === undefined || earlier.length === 0 ? undefined : [...earlier, own]

/** The versions that a message had before another was made of it: what an edit or an answer made anew says it is a version of. */
export const earlierVersions = ({ id, seq, versions }: Message): readonly MessageVersion[] =>
  versions ?? [{ id, seq }]

/** The same message with these versions, which its row knows better than what it was made of. */
export function withVersions<M extends Message>(
  message: M,
  versions: readonly MessageVersion[] | null = null,
): M {
  if (versions !== null) return { ...message, versions }
  if (message.versions === undefined) return message
  const { versions: _, ...rest } = message
  return rest as M
}

/** A version's id as somebody sent it: which message, and where it stands if the id says so. */
export interface VersionRef {
  readonly id: MessageId
  readonly seq: Seq | null
}

/** An id may be read in two ways, since a message's own id may end in `@` and a number. The more exact one first. */
export function parseVersionId(text: string): readonly VersionRef[] {
  const whole: VersionRef = { id: text, seq: null }
  const placed = /^(.+)@([1-9]\d{0,14})$/su.exec(text)
  return placed === null ? [whole] : [{ id: placed[1] as MessageId, seq: Number(placed[2]) }, whole]
}

/** What a client sends back with its message is not its own to say: the ledger knows the versions (VR1). */
export function withoutVersions(metadata: Json | undefined): Json | undefined {
  if (!isJsonObject(metadata) || !isJsonObject(metadata.versions)) return metadata
  const { versions, ...rest } = metadata
  if (!Array.isArray(versions.ids) || typeof versions.shown !== 'string') return metadata
  return Object.keys(rest).length === 0 ? undefined : rest
}
