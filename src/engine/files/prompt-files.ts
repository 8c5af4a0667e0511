import { type FileId, fileIdOf, type FileRecord } from '../../core/file.ts'
import type { OwnerId } from '../../core/ids.ts'
import {
  isTurn,
  type Message,
  type Part,
  type Turn,
  type UserMessage,
  type UserPart,
} from '../../core/message.ts'
import { type FetchFile, fetchRemote, mostFileBytes } from './file-loader.ts'
import type { ProviderReference } from './file-options.ts'
import { missingFileText, refusedFileText } from './file-texts.ts'
import type { EngineFiles } from './files.ts'
import { ownFileOf, toOwnAddress } from './own-address.ts'
import { type FileUse, mostPromptFiles, planFileUses } from './plan-file-uses.ts'
import { isTaken } from '../agent/offered-models.ts'

/**
 * The files of a history for the model (FL2). Its provider gets an address where the file store returns one that
 * anybody can fetch, and the bytes otherwise. A file of another owner, or one that is gone, is replaced by a text about
 * it (ST3b), and so is what the prompt has no room for (OP7).
 */
export function createPromptFiles(files: EngineFiles, ownerId: OwnerId) {
  const known = new Map<FileId, Promise<FileRecord | null>>()
  /** By the addresses under which they stand in the prompt. */
  const ids = new Map<string, FileId>()
  /**
   * The files of answers as `data:` addresses, for all steps of the run: their prompts share them, and hold them anyway. Null:
   * the file could not be read.
   */
  const inline = new Map<FileId, string | null>()
  const recordOf = (id: FileId): Promise<FileRecord | null> => {
    const record = known.get(id) ?? files.get(id, { ownerId }).catch(() => null)
    known.set(id, record)
    return record
  }

  const readBytes = async (
    id: FileId,
    maxBytes = Number.POSITIVE_INFINITY,
  ): Promise<{ data: Buffer; mediaType: string }> => {
    const record = await recordOf(id)
    if (record === null) throw new Error('The file is gone.')
    if (record.bytes > maxBytes) throw new Error('The prompt has no room for the file.')
    const { mediaType } = record
    const url = inline.get(id) ?? null
    if (url !== null) {
      return { data: Buffer.from(url.slice(url.indexOf(',') + 1), 'base64'), mediaType }
    }
    const content = await files.readForTurn(id, ownerId)
    if (content === null) throw new Error('The file is gone.')
    const pieces: Uint8Array[] = []
    for await (const piece of content) pieces.push(piece)
    return { data: Buffer.concat(pieces), mediaType }
  }

  /** Null: the file could not be read. */
  const inlineOf = async (id: FileId): Promise<string | null> => {
    const read = inline.get(id)
    if (read !== undefined) return read
    const url = await readBytes(id).then(
      ({ data, mediaType }) => `data:${mediaType};base64,${data.toString('base64')}`,
      () => null,
    )
    inline.set(id, url)
    return url
  }

  /**
   * How many of its newest uses each file may have in the prompt, and the bytes of all of them; a file without an entry is gone,
   * or too far back.
   */
  const planUses = async (
    named: readonly FileId[],
  ): Promise<{ readonly uses: Map<FileId, number>; readonly bytes: number }> => {
    const uses: FileUse[] = []
    for (const key of named.slice(-mostPromptFiles).reverse()) {
      const record = await recordOf(key)
      if (record !== null) uses.push({ key, bytes: record.bytes })
    }
    const fitting = planFileUses(uses, files.maxBytesPerMessage)
    const sizes = new Map(uses.map(({ key, bytes }) => [key, bytes]))
    return {
      uses: new Map(uses.map(({ key }) => [key, fitting.get(key) ?? 0])),
      bytes: [...sizes].reduce((sum, [key, bytes]) => sum + (fitting.get(key) ?? 0) * bytes, 0),
    }
  }

  /** The parts of the messages from the last to the first, as the uses of the plan are counted down. */
  const createResolver = (usesLeft: Map<FileId, number>) => {
    const countUse = (id: FileId): 'within' | 'beyond' | 'not planned' => {
      const uses = usesLeft.get(id)
      if (uses === undefined) return 'not planned'
      usesLeft.set(id, uses - 1)
      return uses > 0 ? 'within' : 'beyond'
    }

    /** Whether its bytes fit is decided when they are loaded: a link or a reference needs none. */
    const toUserPart = async (part: UserPart): Promise<UserPart> => {
      const id = fileNamedBy(part)
      if (part.type !== 'file' || id === undefined) return part
      const record = countUse(id) === 'not planned' ? null : await recordOf(id)
      if (record === null) return part
      // A store that cannot sign a link now can often still read: then the bytes are sent.
      const link = await files.link(id).catch(() => undefined)
      const url = link ?? toOwnAddress(id)
      ids.set(new URL(url).href, id)
      return { ...part, url, mediaType: record.mediaType }
    }

    /** Providers do not fetch files in assistant messages: these are sent as bytes. Unchanged: there are none. */
    const toPart = async (part: Part): Promise<Part> => {
      if (part.type === 'steering') {
        return { ...part, parts: await fromLast(part.parts, toUserPart) }
      }
      const id = fileNamedBy(part)
      if (!isFile(part) || id === undefined) return part
      const url = countUse(id) === 'within' ? await inlineOf(id) : null
      return url === null ? part : { ...part, url }
    }

    const toUserMessage = async (message: UserMessage): Promise<UserMessage> => ({
      ...message,
      parts: await fromLast(message.parts, toUserPart),
    })
    const toTurn = async (turn: Turn): Promise<Turn> => ({
      ...turn,
      steps: await fromLast(turn.steps, async (step) => ({
        ...step,
        parts: withMissingAsText(await fromLast(step.parts, toPart)),
      })),
    })
    return async (message: Message): Promise<Message> => {
      if (!filePartsOf(message).some(fileNamedBy)) return message
      return isTurn(message) ? toTurn(message) : toUserMessage(message)
    }
  }

  const fetchFile: FetchFile = ({ maxBytes, ...request }) => {
    const id = ownFileOf(request.url) ?? ids.get(request.url.href)
    return id === undefined ? fetchRemote({ maxBytes, ...request }) : readBytes(id, maxBytes)
  }

  return {
    /** The messages of a prompt, of which the last is the turn, before any file of them is loaded. */
    async plan(all: readonly Message[]): Promise<PlannedFiles> {
      const last = all.at(-1)
      const choices = last !== undefined && isTurn(last) ? last.choices : undefined
      // If the host application's function fails, no file is left out: the provider decides.
      const accepts = await files.acceptsOf?.(ownerId, choices).catch(() => undefined)
      const messages = inAcceptedTypes(all, accepts)
      const parts = messages.flatMap(filePartsOf)
      const { uses, bytes } = await planUses(parts.flatMap((part) => fileNamedBy(part) ?? []))
      const linked = parts.filter(isLinked).length * mostFileBytes
      return {
        bytes: Math.min(bytes + linked, files.maxBytesPerMessage),
        resolve: async () =>
          parts.length === 0 ? messages : fromLast(messages, createResolver(uses)),
      }
    },
    /** The bytes of the files of answers that the prompts of this run contain. */
    get inlineBytes(): number {
      let bytes = 0
      for (const url of inline.values()) bytes += url?.length ?? 0
      return bytes
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
    fetch: Object.assign(fetchFile, { promptBytes: files.maxBytesPerMessage }),
  }
}

export interface PlannedFiles {
  /** The most bytes that its files have in the prompt. */
  readonly bytes: number
  /** The messages with addresses and bytes that their model can be sent. */
  resolve(): Promise<readonly Message[]>
}

/** One after the other, from the last to the first: what is awaited at the same time is held at the same time. */
async function fromLast<Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const mapped: Result[] = []
  for (const item of items.toReversed()) mapped.push(await map(item))
  return mapped.reverse()
}

type FilePart = Extract<UserPart | Part, { readonly type: 'file' | 'reasoning-file' }>

const isFile = (part: UserPart | Part): part is FilePart =>
  part.type === 'file' || part.type === 'reasoning-file'

const fileNamedBy = (part: UserPart | Part): FileId | undefined =>
  isFile(part) ? fileIdOf(part.url) : undefined

/**
 * The parts of a step with one text about the files that still have no bytes. It stands behind the last file of the step: a
 * message of a prompt ends with its last text or call, and files that came after this text would be left out.
 */
function withMissingAsText(parts: readonly Part[]): readonly Part[] {
  const missing = parts.filter((part) => fileNamedBy(part) !== undefined)
  if (missing.length === 0) return parts
  const texts = new Set(missing.filter(isFile).map(missingFileText))
  const text = [...texts].join('\n')
  const end = parts.findLastIndex(isFile) + 1
  const isKept = (part: Part) => fileNamedBy(part) === undefined
  return [
    ...parts.slice(0, end).filter(isKept),
    { type: 'text', block: 'file', text, state: 'done' },
    ...parts.slice(end),
  ]
}

/** Each use of a file, oldest first. */
function filePartsOf(message: Message): readonly FilePart[] {
  const own = (part: UserPart | Part): readonly FilePart[] =>
    part.type === 'steering' ? part.parts.flatMap(own) : isFile(part) ? [part] : []
  return isTurn(message)
    ? message.steps.flatMap(({ parts }) => parts.flatMap(own))
    : message.parts.flatMap(own)
}

/** At an address of the network: loaded where the model does not fetch it itself. */
const isLinked = ({ type, url }: FilePart): boolean => type === 'file' && /^https?:/i.test(url)

/**
 * Replaces every file that the model of the turn does not accept by a text about it (AG2): such a file stays in the
 * history, accepted by another model, and this model's provider would refuse every later answer because of it (ST3b).
 */
function inAcceptedTypes(
  messages: readonly Message[],
  accepts: readonly string[] | undefined,
): readonly Message[] {
  if (accepts === undefined) return messages
  const isRefused = ({ mediaType }: { readonly mediaType: string }) => !isTaken(mediaType, accepts)
  const toUserPart = (part: UserPart): UserPart =>
    part.type === 'file' && isRefused(part) ? { type: 'text', text: refusedFileText(part) } : part
  const toPart = (part: Part): Part => {
    if (part.type === 'steering') return { ...part, parts: part.parts.map(toUserPart) }
    if (part.type !== 'file' && part.type !== 'reasoning-file') return part
    if (!isRefused(part)) return part
    return { type: 'text', block: 'file', text: refusedFileText(part), state: 'done' }
  }
  return messages.map((message) =>
    isTurn(message)
      ? {
          ...message,
          steps: message.steps.map((step) => ({ ...step, parts: step.parts.map(toPart) })),
        }
      : { ...message, parts: message.parts.map(toUserPart) },
  )
}
