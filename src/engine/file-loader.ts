import { APICallError, createDownload, type ModelMessage } from 'ai'
import { type Clock, wait } from './clock.ts'
import { isOwnFile } from './prompt-files.ts'
import type { Download } from './sdk-layer.ts'

type Fetched = Awaited<ReturnType<ReturnType<typeof createDownload>>>
export type FetchFile = (request: {
  readonly url: URL
  readonly abortSignal: AbortSignal
}) => Promise<Fetched>

/** What one file may have; more is not for a model, nor for the memory of a process that serves others. */
const mostFileBytes = 25 * 1024 * 1024
const mostFileMs = 10_000

/**
 * Fetches the files of a history that the model cannot fetch itself, each once in a run. One that cannot be had is
 * told in words instead: it stands in the history for good, and would otherwise fail every answer after it (ST3b).
 */
export interface FileLoader {
  /** For the AI SDK's layer. Fails if there is a file that is not yet known to be missing. */
  readonly download: Download
  /** The messages with words for what is known to be missing. */
  inWords(messages: readonly ModelMessage[]): ModelMessage[]
  /** Whether the model's provider refused because of a file, which is missing from now on. */
  isToBlame(error: unknown, messages: readonly ModelMessage[]): boolean
  /** How many files are known to be missing. */
  readonly missing: number
}

export function createFileLoader(
  clock: Clock,
  signal: AbortSignal,
  fetchFile: FetchFile = createDownload({ maxBytes: mostFileBytes }),
): FileLoader {
  const missing = new Set<string>()
  const loaded = new Map<string, Promise<Fetched | null>>()

  /** Null: it is missing now. */
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

  const fetchInTime = async (url: URL): Promise<Fetched> => {
    const late = new AbortController()
    const done = new AbortController()
    const abortSignal = AbortSignal.any([signal, late.signal])
    const timeout = wait(clock, mostFileMs, AbortSignal.any([signal, done.signal])).then(() => {
      late.abort()
      throw new Error('It took too long.')
    })
    timeout.catch(() => undefined)
    try {
      return await Promise.race([fetchFile({ url, abortSignal }), timeout])
    } finally {
      done.abort()
    }
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
    inWords: (messages) => messages.map((message) => wordFiles(message, missing)),
    isToBlame(error, messages) {
      const words = refusalOf(error)
      if (words === undefined) return false
      const urls = messages.flatMap(remoteFilesOf).filter((url) => !missing.has(toHref(url)))
      const named = urls.filter((url) => words.includes(url))
      const blamed = named.length > 0 ? named : aboutFiles.test(words) ? urls : []
      for (const url of blamed) missing.add(toHref(url))
      return blamed.length > 0
    },
  }
}

const aboutFiles =
  /(download|fetch|retriev|load|access)\w*.{0,60}(image|file|url|media|document)|(image|file|url|media|document).{0,60}(download|fetch|retriev|load|access|unreachable)/i

/** What a provider says that does not take the request as it is. */
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

function wordFiles(message: ModelMessage, missing: ReadonlySet<string>): ModelMessage {
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
