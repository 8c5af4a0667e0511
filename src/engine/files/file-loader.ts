import { APICallError, createDownload, type LanguageModel, type ModelMessage } from 'ai'
import { type Clock, wait } from '../clock.ts'
import type { ProviderReference } from './file-options.ts'
import { missingFileText } from './file-texts.ts'
import { isOwnFile } from './own-address.ts'
import { mostPromptFiles, planFileUses } from './plan-file-uses.ts'
import type { Download } from '../model/sdk-layer.ts'

type Fetched = Awaited<ReturnType<ReturnType<typeof createDownload>>>
export interface FetchFile {
  /** Fails if the file has more than `maxBytes`. */
  (request: {
    readonly url: URL
    readonly abortSignal: AbortSignal
    readonly maxBytes: number
  }): Promise<Fetched>
  /** The most bytes of the files of one prompt. @default no bound */
  readonly promptBytes?: number
}

/** The most bytes of one file; more is too much for a model, and for the memory of a process that serves others. */
export const mostFileBytes = 25 * 1024 * 1024
const mostFileMs = 10_000
/** Files that are loaded at the same time, or whose references are: of those that turn out not to fit, no more are held. */
const filesAtOnce = 4
/** To upload one to a provider. */
const mostReferenceMs = 30_000

/** The provider's own id of what stands under an address. */
export type ReferTo = (
  url: string,
  provider: string,
  abortSignal: AbortSignal,
) => Promise<ProviderReference | undefined>

/** As references name it: `openai` of a model of `openai.responses`, and of `openai/gpt-5` at a gateway. */
const providerOf = (model: LanguageModel): string =>
  (typeof model === 'string' ? model.split('/') : model.provider.split('.'))[0] ?? ''

/** Fetches what stands under an address of the network. */
export const fetchRemote: FetchFile = ({ maxBytes, ...request }) =>
  createDownload({ maxBytes: Math.min(maxBytes, mostFileBytes) })(request)

/**
 * Fetches the files of a history that the model cannot fetch itself, and keeps them for the next step of the run. A file that
 * cannot be loaded, or that the prompt has no room for, is replaced by a text about it: it stays in the history, and would
 * otherwise fail every later answer (ST3b).
 */
export interface FileLoader {
  /** For the AI SDK's layer. Fails if there is a file that has just turned out to be missing. */
  readonly download: Download
  /** The messages with the provider's own ids of files, where the host gives them. */
  refer(messages: readonly ModelMessage[], model: LanguageModel): Promise<readonly ModelMessage[]>
  /** The messages with texts instead of the missing files. */
  withMissingAsText(messages: readonly ModelMessage[]): ModelMessage[]
  /** Whether the provider refused the request because of a file; that file counts as missing from now on. */
  isToBlame(error: unknown, messages: readonly ModelMessage[]): boolean
  /** Grows with each file that turns out to be missing, and with each of which fewer uses fit than before. */
  readonly missing: number
}

export interface FileLoaderOptions {
  /** @default `fetchRemote` */
  readonly fetchFile?: FetchFile
  /** @default no file has an id at its provider */
  readonly referTo?: ReferTo
  /** Called with the bytes that the files of a prompt have in it, once they are loaded. @default nothing is called */
  readonly onLoaded?: (bytes: number) => void
}

export function createFileLoader(
  clock: Clock,
  signal: AbortSignal,
  { fetchFile = fetchRemote, referTo, onLoaded }: FileLoaderOptions = {},
): FileLoader {
  /** Of files that are not sent at each of their uses: at how many, the newest. 0: the file is missing. */
  const sendable = new Map<string, number>()
  let missing = 0
  const limitUses = (href: string, most: number) => {
    if (signal.aborted || most >= (sendable.get(href) ?? Number.POSITIVE_INFINITY)) return
    sendable.set(href, most)
    missing++
  }
  /** The files of the last prompt, by address. */
  let loaded: ReadonlyMap<string, Fetched> = new Map()
  /** What the messages contain that are about to be sent. */
  let inlineBytes = 0

  const load = async (url: URL, maxBytes: number): Promise<Fetched | null> => {
    const known = loaded.get(url.href)
    if (known !== undefined || maxBytes <= 0) return known ?? null
    try {
      return await inTime(mostFileMs, (abortSignal) => fetchFile({ url, abortSignal, maxBytes }))
    } catch {
      return null
    }
  }

  /** Loads what fits of the files at these addresses, which are in the order of the prompt. */
  const loadFitting = async (addresses: readonly URL[]): Promise<void> => {
    const mostBytes = (fetchFile.promptBytes ?? Number.POSITIVE_INFINITY) - inlineBytes
    const newestFirst = addresses.toReversed()
    // A file that was uploaded is within the limits of its message; what it links to besides may have any size.
    const uses = [...newestFirst.filter(isOwnFile), ...newestFirst.filter((url) => !isOwnFile(url))]
    const urls = [...new Map(uses.map((url) => [url.href, url])).values()].slice(0, mostPromptFiles)
    const fitting = new Map<string, Fetched>()
    let bytesLeft = mostBytes
    for (const batch of batchesOf(urls)) {
      const files = await Promise.all(batch.map(async (url) => load(url, bytesLeft)))
      for (const [index, { href }] of batch.entries()) {
        const file = files[index] ?? null
        if (file === null || file.data.byteLength > bytesLeft) continue
        bytesLeft -= file.data.byteLength
        fitting.set(href, file)
      }
    }
    loaded = fitting
    const planned = planFileUses(
      uses.flatMap(({ href: key }) => {
        const bytes = fitting.get(key)?.data.byteLength
        return bytes === undefined ? [] : [{ key, bytes }]
      }),
      mostBytes,
    )
    const bytesOf = (href: string) => fitting.get(href)?.data.byteLength ?? 0
    onLoaded?.([...planned].reduce((sum, [href, count]) => sum + count * bytesOf(href), 0))
    for (const [href, wanted] of Map.groupBy(uses, (url) => url.href)) {
      const most = planned.get(href) ?? 0
      if (most < wanted.length) limitUses(href, most)
    }
  }

  const inTime = async <Result>(
    ms: number,
    work: (abortSignal: AbortSignal) => Promise<Result>,
  ): Promise<Result> => {
    const late = new AbortController()
    const done = new AbortController()
    const abortSignal = AbortSignal.any([signal, late.signal])
    const timeout = wait(clock, ms, AbortSignal.any([signal, done.signal])).then(() => {
      late.abort()
      throw new Error('It took too long.')
    })
    timeout.catch(() => undefined)
    try {
      return await Promise.race([work(abortSignal), timeout])
    } finally {
      done.abort()
    }
  }

  const references = new Map<string, Promise<ProviderReference | undefined>>()
  /** Once in a run. What the host cannot say is sent as ever. */
  const referenceOf = (url: string, provider: string, refer: ReferTo) => {
    const key = `${provider} ${url}`
    const found =
      references.get(key) ??
      inTime(mostReferenceMs, (abortSignal) => refer(url, provider, abortSignal)).catch(
        () => undefined,
      )
    references.set(key, found)
    return found
  }

  return {
    get missing() {
      return missing
    },
    async download(requested) {
      const isForModel = ({ url, isUrlSupportedByModel }: (typeof requested)[number]) =>
        isUrlSupportedByModel && !isOwnFile(url)
      const known = missing
      await loadFitting(requested.flatMap((each) => (isForModel(each) ? [] : [each.url])))
      return requested.map((each) => {
        if (isForModel(each)) return null
        const file = loaded.get(each.url.href)
        if (file === undefined || missing > known) {
          throw new Error('A file of the conversation could not be loaded.')
        }
        return file
      })
    },
    async refer(messages, model) {
      if (referTo === undefined) return messages
      const provider = providerOf(model)
      const urls = messages.filter(({ role }) => role === 'user').flatMap(remoteFilesOf)
      for (const batch of batchesOf([...new Set(urls.map(toHref))])) {
        await Promise.all(batch.map(async (url) => referenceOf(url, provider, referTo)))
      }
      const toPart = async (part: Content): Promise<Content> => {
        const url = part.type === 'file' ? urlOf({ ...part }) : undefined
        const data =
          url === undefined ? undefined : await referenceOf(toHref(url), provider, referTo)
        return data === undefined ? part : ({ ...part, data } as Content)
      }
      return Promise.all(
        messages.map(async (message) => {
          const { role, content } = message
          if (role !== 'user' || typeof content === 'string') return message
          return { ...message, content: await Promise.all(content.map(toPart)) } as ModelMessage
        }),
      )
    },
    withMissingAsText(messages) {
      inlineBytes = messages.reduce((sum, message) => sum + inlineBytesOf(message), 0)
      const left = new Map(sendable)
      const isSent = (url: string): boolean => {
        if (!URL.canParse(url)) return false
        const uses = left.get(toHref(url))
        if (uses === undefined) return true
        left.set(toHref(url), uses - 1)
        return uses > 0
      }
      return fromLast(messages, (message) => missingToText(message, isSent))
    },
    isToBlame(error, messages) {
      const refusal = refusalOf(error)
      if (refusal === undefined) return false
      const urls = messages.flatMap(remoteFilesOf).filter((url) => sendable.get(toHref(url)) !== 0)
      if (urls.length === 0) return false
      const named = urls.filter((url) => refusal.includes(url))
      const blamed = named.length > 0 ? named : aboutFiles.test(refusal) ? urls : []
      for (const url of blamed) limitUses(toHref(url), 0)
      return blamed.length > 0
    },
  }
}

function* batchesOf<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let from = 0; from < items.length; from += filesAtOnce) {
    yield items.slice(from, from + filesAtOnce)
  }
}

/** `map` in the order in which uses of a file are counted: the newest is the last. */
const fromLast = <Item, Result>(items: readonly Item[], map: (item: Item) => Result): Result[] =>
  items.toReversed().map(map).reverse()

const aboutFiles =
  /(?:download|fetch|retriev|load|access).{0,60}(?:image|file|url|media|document)|(?:image|file|url|media|document).{0,60}(?:download|fetch|retriev|load|access|unreachable)/i
/** Of a refusal, what is read: a provider may repeat the whole request in it. */
const mostRefusalChars = 10_000

/** The provider's text, if it refused the request as malformed. */
function refusalOf(error: unknown): string | undefined {
  if (!APICallError.isInstance(error)) return undefined
  const { statusCode = 0, message, responseBody = '' } = error
  if (![400, 404, 415, 422].includes(statusCode)) return undefined
  return `${message.slice(0, mostRefusalChars)} ${responseBody.slice(0, mostRefusalChars)}`
}

type Content = Exclude<ModelMessage['content'], string>[number]
/** A part of a message, or of a result that has parts. */
type Loose = Readonly<Record<string, unknown>>

function remoteFilesOf({ content }: ModelMessage): readonly string[] {
  if (typeof content === 'string') return []
  return content.flatMap((part) =>
    [part as Loose, ...resultPartsOf(part)].flatMap((each) => urlOf(each) ?? []),
  )
}

/** `isSent` is called once for each file, the last one first. */
function missingToText(message: ModelMessage, isSent: (url: string) => boolean): ModelMessage {
  const { content } = message
  if (typeof content === 'string') return message
  let isChanged = false
  const toPart = (part: Loose): Loose => {
    const url = urlOf(part)
    if (url === undefined || isSent(url)) return part
    isChanged = true
    return toWords(part)
  }
  const parts = fromLast<Content, Loose>(content, (part) => {
    const inside = resultPartsOf(part)
    if (inside.length === 0) return toPart(part as Loose)
    const { output } = part as { readonly output: Loose }
    return { ...part, output: { ...output, value: fromLast(inside, toPart) } }
  })
  return isChanged ? ({ ...message, content: parts } as unknown as ModelMessage) : message
}

/**
 * The bytes of the files of answers, which are part of the messages. Exactly as many as were counted when they were planned,
 * or the files of a message that has as many bytes as it may have would not fit beside them.
 */
function inlineBytesOf({ role, content }: ModelMessage): number {
  if (role !== 'assistant' || typeof content === 'string') return 0
  return content.reduce((sum, part) => sum + base64BytesOf((part as Loose)['data']), 0)
}

function base64BytesOf(url: unknown): number {
  if (typeof url !== 'string') return 0
  const padding = url.endsWith('==') ? 2 : url.endsWith('=') ? 1 : 0
  return ((url.length - url.indexOf(',') - 1) / 4) * 3 - padding
}

function resultPartsOf(part: Content): readonly Loose[] {
  if (part.type !== 'tool-result' || part.output.type !== 'content') return []
  return part.output.value
}

function urlOf({ type, url, data }: Loose): string | undefined {
  if (type === 'file-url' || type === 'image-url') return toRemote(url)
  if (type !== 'file') return undefined
  return toRemote(
    typeof data === 'object' && data !== null ? (data as { readonly url?: unknown }).url : data,
  )
}

const toRemote = (url: unknown): string | undefined => {
  const text = url instanceof URL ? url.href : url
  return typeof text === 'string' && /^https?:/i.test(text) ? text : undefined
}

const toHref = (url: string): string => (URL.canParse(url) ? new URL(url).href : url)

function toWords({ filename, mediaType }: Loose): Loose {
  const toText = (value: unknown) => (typeof value === 'string' ? value : undefined)
  const text = missingFileText({ filename: toText(filename), mediaType: toText(mediaType) })
  return { type: 'text', text }
}
