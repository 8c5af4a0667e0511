import { APICallError, createDownload, type LanguageModel, type ModelMessage } from 'ai'
import { type Clock, wait } from '../clock.ts'
import type { ProviderReference } from './file-options.ts'
import { isOwnFile } from './prompt-files.ts'
import type { Download } from '../model/sdk-layer.ts'

type Fetched = Awaited<ReturnType<ReturnType<typeof createDownload>>>
export type FetchFile = (request: {
  readonly url: URL
  readonly abortSignal: AbortSignal
}) => Promise<Fetched>

/** The most bytes of one file; more is too much for a model, and for the memory of a process that serves others. */
const mostFileBytes = 25 * 1024 * 1024
const mostFileMs = 10_000
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

/**
 * Fetches the files of a history that the model cannot fetch itself, each once in a run. A file that cannot be loaded
 * is replaced by a text about it: it stays in the history, and would otherwise fail every later answer (ST3b).
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
  /** The number of files known to be missing. */
  readonly missing: number
}

export function createFileLoader(
  clock: Clock,
  signal: AbortSignal,
  fetchFile: FetchFile = createDownload({ maxBytes: mostFileBytes }),
  referTo?: ReferTo,
): FileLoader {
  const missing = new Set<string>()
  const loaded = new Map<string, Promise<Fetched | null>>()

  /** Null: the file is missing. */
  const load = (url: URL): Promise<Fetched | null> => {
    const known = loaded.get(url.href)
    if (known !== undefined) return known
    const loading = fetchInTime(url).catch((): null => {
      if (!signal.aborted) missing.add(url.href)
      return null
    })
    loaded.set(url.href, loading)
    return loading
  }

  const fetchInTime = (url: URL): Promise<Fetched> =>
    inTime(mostFileMs, (abortSignal) => fetchFile({ url, abortSignal }))

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
      return missing.size
    },
    async download(requested) {
      const files = await Promise.all(
        requested.map(async ({ url, isUrlSupportedByModel }) =>
          isUrlSupportedByModel && !isOwnFile(url) ? ('by-model' as const) : load(url),
        ),
      )
      return files.map((file) => {
        if (file === null) throw new Error('A file of the conversation could not be loaded.')
        return file === 'by-model' ? null : file
      })
    },
    async refer(messages, model) {
      if (referTo === undefined) return messages
      const provider = providerOf(model)
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
    withMissingAsText: (messages) => messages.map((message) => missingToText(message, missing)),
    isToBlame(error, messages) {
      const refusal = refusalOf(error)
      if (refusal === undefined) return false
      const urls = messages.flatMap(remoteFilesOf).filter((url) => !missing.has(toHref(url)))
      const named = urls.filter((url) => refusal.includes(url))
      const blamed = named.length > 0 ? named : aboutFiles.test(refusal) ? urls : []
      for (const url of blamed) missing.add(toHref(url))
      return blamed.length > 0
    },
  }
}

const aboutFiles =
  /(download|fetch|retriev|load|access)\w*.{0,60}(image|file|url|media|document)|(image|file|url|media|document).{0,60}(download|fetch|retriev|load|access|unreachable)/i

/** The provider's text, if it refused the request as malformed. */
function refusalOf(error: unknown): string | undefined {
  if (!APICallError.isInstance(error)) return undefined
  const { statusCode = 0, message, responseBody = '' } = error
  return [400, 404, 415, 422].includes(statusCode) ? `${message} ${responseBody}` : undefined
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

function missingToText(message: ModelMessage, missing: ReadonlySet<string>): ModelMessage {
  const { content } = message
  if (typeof content === 'string') return message
  const isMissing = (part: Loose) => {
    const url = urlOf(part)
    return url !== undefined && (!URL.canParse(url) || missing.has(toHref(url)))
  }
  const word = (part: Loose): Loose => (isMissing(part) ? toWords(part) : part)
  if (!content.some((part) => [part as Loose, ...resultPartsOf(part)].some(isMissing)))
    return message
  const parts = content.map((part) => {
    const inside = resultPartsOf(part)
    if (!inside.some(isMissing)) return word(part as Loose)
    const { output } = part as { readonly output: Loose }
    return { ...part, output: { ...output, value: inside.map(word) } }
  })
  return { ...message, content: parts } as unknown as ModelMessage
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
  const name = typeof filename === 'string' && filename !== '' ? filename : 'a file'
  const type = typeof mediaType === 'string' ? ` (${mediaType})` : ''
  return { type: 'text', text: `[${name}${type} could not be loaded]` }
}
