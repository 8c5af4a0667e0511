import {
  createDownload,
  type LanguageModel,
  type ModelMessage,
  UnsupportedFunctionalityError,
} from 'ai'
import { type Clock, wait } from '../clock.ts'
import type { ProviderReference } from './file-options.ts'
import { statusOf } from '../model/model-error.ts'
import { missingFileText, refusedFileText } from './file-texts.ts'
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
 * cannot be loaded, that the prompt has no room for, or that the provider refuses, is replaced by a text about it: it stays
 * in the history, and would otherwise fail every later answer (ST3b).
 */
export interface FileLoader {
  /** For the AI SDK's layer. Fails if there is a file that has just turned out to be missing. */
  readonly download: Download
  /** The messages of a call (a new one, unless they are those of the last), with the provider's own ids of files, where the host gives them. */
  refer(messages: readonly ModelMessage[], model: LanguageModel): Promise<readonly ModelMessage[]>
  /** The messages with texts instead of the missing and the refused files. */
  withMissingAsText(messages: readonly ModelMessage[]): ModelMessage[]
  /**
   * Whether files may be the reason why the provider refused these messages: those that it names, or else all of them, which
   * are texts from now on. Where it refuses the messages without any file too, the files were not to blame: they are sent
   * again from now on, and this throws what the provider refused them with.
   * @param messages @default those of the last `withMissingAsText`
   */
  isToBlame(error: unknown, messages?: readonly ModelMessage[]): boolean
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
  /** What the provider refused, as `fileOf` identifies it. */
  const refused = new Set<unknown>()
  /** In the current call: the files that became texts without being named, and the refusal that was the reason. */
  let suspicion: { readonly error: unknown; readonly files: readonly unknown[] } | null = null
  /** The messages of the current call, as they were given, and as they were sent last. */
  let referred: readonly ModelMessage[] = []
  let sent: readonly ModelMessage[] = []
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
  /** The host is called once in a run for each file. If it fails, the bytes or the link are sent as without it. */
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
      if (messages !== referred) suspicion = null
      referred = messages
      if (referTo === undefined) return messages
      const provider = providerOf(model)
      const urls = messages
        .filter(({ role }) => role === 'user')
        .flatMap(filesOf)
        .flatMap((file) => toRemote(file) ?? [])
      for (const batch of batchesOf([...new Set(urls.map(toHref))])) {
        await Promise.all(batch.map(async (url) => referenceOf(url, provider, referTo)))
      }
      const toPart = async (part: Content): Promise<Content> => {
        const url = part.type === 'file' ? toRemote(fileOf({ ...part })) : undefined
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
      const toText = (file: unknown): ToText | null => {
        if (refused.has(file)) return refusedFileText
        const url = toRemote(file)
        return url === undefined || isSent(url) ? null : missingFileText
      }
      const made = fromLast(messages, (message) => filesToText(message, toText))
      sent = made
      return made
    },
    isToBlame(error, messages = sent) {
      const refusal = refusalOf(error)
      if (refusal === undefined || signal.aborted) return false
      const files = messages.flatMap(filesOf)
      if (files.length === 0) {
        if (suspicion === null) return false
        for (const file of suspicion.files) refused.delete(file)
        throw suspicion.error
      }
      const named = files.filter((file) => typeof file === 'string' && refusal.includes(file))
      if (named.length === 0) suspicion = { error, files }
      for (const file of named.length === 0 ? files : named) refused.add(file)
      return true
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

/** Of a refusal, what is read: a provider may repeat the whole request in it. */
const mostRefusalChars = 10_000
const refusals: readonly unknown[] = [400, 404, 413, 415, 422]

/** The provider's text, if it refused the request itself: other failures have nothing to do with its files. */
function refusalOf(error: unknown): string | undefined {
  const { message, responseBody } = (error ?? {}) as Loose
  if (!refusals.includes(statusOf(error)) && !UnsupportedFunctionalityError.isInstance(error)) {
    return undefined
  }
  const textOf = (value: unknown) =>
    typeof value === 'string' ? value.slice(0, mostRefusalChars) : ''
  return `${textOf(message)} ${textOf(responseBody)}`
}

type Content = Exclude<ModelMessage['content'], string>[number]
/** A part of a message, or of a result that has parts. */
type Loose = Readonly<Record<string, unknown>>

const filesOf = ({ content }: ModelMessage): readonly unknown[] =>
  typeof content === 'string'
    ? []
    : content.flatMap((part) =>
        [part as Loose, ...resultPartsOf(part)].flatMap((each) => fileOf(each) ?? []),
      )

/** What stands in place of a file. */
type ToText = typeof missingFileText

/** `toText` is called once for each file, the last one first. Null: the file is sent. */
function filesToText(
  message: ModelMessage,
  toText: (file: unknown) => ToText | null,
): ModelMessage {
  const { content } = message
  if (typeof content === 'string') return message
  let isChanged = false
  const toPart = (part: Loose): Loose => {
    const file = fileOf(part)
    const text = file === undefined ? null : toText(file)
    if (text === null) return part
    isChanged = true
    return {
      type: 'text',
      text: text({ filename: wordOf(part, 'filename'), mediaType: wordOf(part, 'mediaType') }),
    }
  }
  const parts = fromLast<Content, Loose>(content, (part) => {
    const inside = resultPartsOf(part)
    if (inside.length === 0) return toPart(part as Loose)
    const { output } = part as { readonly output: Loose }
    return { ...part, output: { ...output, value: fromLast(inside, toPart) } }
  })
  return isChanged ? ({ ...message, content: parts } as unknown as ModelMessage) : message
}

const wordOf = (part: Loose, field: string): string | undefined =>
  typeof part[field] === 'string' ? part[field] : undefined

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

/**
 * What identifies a file from one prompt of a run to the next: its address, its base64 text or its id at the provider, or the
 * object that holds its bytes or ids. Undefined: the part is no file.
 */
function fileOf({ type, data, url, image, fileId, providerReference }: Loose): unknown {
  if (typeof type !== 'string' || !/^(?:reasoning-)?(?:file|image)|^media$/.test(type))
    return undefined
  const given = data ?? url ?? image ?? fileId ?? providerReference
  const isTagged = typeof given === 'object' && given !== null && 'type' in given
  const file = isTagged ? taggedFileOf(given) : given
  return file instanceof URL ? file.href : file
}

const taggedFileOf = ({ data, url, reference, text }: Loose): unknown =>
  data ?? url ?? reference ?? text

const toRemote = (file: unknown): string | undefined =>
  typeof file === 'string' && /^https?:/i.test(file) ? file : undefined

const toHref = (url: string): string => (URL.canParse(url) ? new URL(url).href : url)
