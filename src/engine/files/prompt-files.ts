import { createDownload } from 'ai'
import { type FileId, fileIdOf, type FileRecord } from '../../core/file.ts'
import type { OwnerId } from '../../core/ids.ts'
import { isTurn, type Message, type Part, type Turn, type UserMessage } from '../../core/message.ts'
import { inAcceptedTypes } from './accepted-files.ts'
import type { ProviderReference } from './file-options.ts'
import type { EngineFiles } from './files.ts'

/** A host name that does not exist: addresses with it are read from the file store, and never requested. */
const ownHost = 'files.holdfast.invalid'

const idOf = (url: URL): FileId | undefined =>
  url.hostname === ownHost ? url.pathname.slice(1) : undefined

/** Whether only this process can load the file, whatever addresses the model's provider supports. */
export const isOwnFile = (url: URL): boolean => idOf(url) !== undefined

/**
 * The files of a history for the model (FL2). Its provider gets an address where the file store returns one that
 * anybody can fetch, and the bytes otherwise. A file of another owner, or one that is gone, is replaced by a text about
 * it (ST3b).
 */
export function createPromptFiles(files: EngineFiles, ownerId: OwnerId) {
  const known = new Map<FileId, Promise<FileRecord | null>>()
  /** By the addresses under which they stand in the prompt. */
  const ids = new Map<string, FileId>()
  const recordOf = (id: FileId): Promise<FileRecord | null> => {
    const record = known.get(id) ?? files.get(id, { ownerId }).catch(() => null)
    known.set(id, record)
    return record
  }

  const readBytes = async (id: FileId): Promise<{ data: Uint8Array; mediaType: string }> => {
    const record = await recordOf(id)
    const content = record === null ? null : await files.read(id)
    if (record === null || content === null) throw new Error('The file is gone.')
    const pieces: Uint8Array[] = []
    for await (const piece of content) pieces.push(piece)
    return { data: Buffer.concat(pieces), mediaType: record.mediaType }
  }

  const toUserMessage = async (message: UserMessage): Promise<UserMessage> => ({
    ...message,
    parts: await Promise.all(
      message.parts.map(async (part) => {
        const id = part.type === 'file' ? fileIdOf(part.url) : undefined
        if (part.type !== 'file' || id === undefined) return part
        const record = await recordOf(id)
        if (record === null) return part
        // A store that cannot sign a link now can often still read: then the bytes are sent.
        const link = await files.link(id).catch(() => undefined)
        const url = link ?? `https://${ownHost}/${id}`
        ids.set(new URL(url).href, id)
        return { ...part, url, mediaType: record.mediaType }
      }),
    ),
  })

  /** Providers do not fetch files in assistant messages: these are sent as bytes. */
  const toTurn = async (turn: Turn): Promise<Turn> => ({
    ...turn,
    steps: await Promise.all(
      turn.steps.map(async (step) => ({
        ...step,
        parts: await Promise.all(
          step.parts.map(async (part) => {
            const id = fileNamedBy(part)
            if (id === undefined || !('url' in part)) return part
            try {
              const { data, mediaType } = await readBytes(id)
              const url = `data:${mediaType};base64,${Buffer.from(data).toString('base64')}`
              return { ...part, url }
            } catch {
              return part
            }
          }),
        ),
      })),
    ),
  })

  const fetchRemote = createDownload({ maxBytes: mostFileBytes })

  return {
    /** The messages, of which the last is the turn, with addresses and bytes that its model can be sent. */
    async resolve(all: readonly Message[]): Promise<readonly Message[]> {
      const last = all.at(-1)
      const choices = last !== undefined && isTurn(last) ? last.choices : undefined
      // If the host application cannot tell now, no file is left out: the provider decides.
      const accepts = await files.acceptsOf?.(ownerId, choices).catch(() => undefined)
      const messages = inAcceptedTypes(all, accepts)
      if (!messages.some(namesFile)) return messages
      return Promise.all(
        messages.map(async (message) => {
          if (!namesFile(message)) return message
          return isTurn(message) ? toTurn(message) : toUserMessage(message)
        }),
      )
    },
    /** The provider's own id of what stands under an address, where the host gives one. */
    refer: async (
      url: string,
      provider: string,
      abortSignal: AbortSignal,
    ): Promise<ProviderReference | undefined> => {
      const id = files.reference === undefined || !URL.canParse(url) ? undefined : ids.get(url)
      const file = id === undefined ? null : await recordOf(id)
      if (id === undefined || file === null) return undefined
      const read = async () => (await readBytes(id)).data
      const reference = await files.reference?.(file, { provider, read, abortSignal })
      // A provider throws at a reference in which it does not find itself.
      return typeof reference?.[provider] === 'string' ? reference : undefined
    },
    fetch: (request: { readonly url: URL; readonly abortSignal: AbortSignal }) => {
      const id = idOf(request.url)
      return id === undefined ? fetchRemote(request) : readBytes(id)
    },
  }
}

/** The most bytes of one file; more is too much for a model, and for the memory of a process that serves others. */
const mostFileBytes = 25 * 1024 * 1024

const fileNamedBy = (part: Part): FileId | undefined =>
  part.type === 'file' || part.type === 'reasoning-file' ? fileIdOf(part.url) : undefined

const namesFile = (message: Message): boolean =>
  isTurn(message)
    ? message.steps.some(({ parts }) => parts.some((part) => fileNamedBy(part) !== undefined))
    : message.parts.some((part) => part.type === 'file' && fileIdOf(part.url) !== undefined)
