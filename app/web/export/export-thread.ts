import { type ApiOptions, createApi } from 'holdfast/client'
import { type ChatExport, toMarkdown } from './to-markdown.ts'

export const exportFormats = ['markdown', 'ui', 'vercel', 'entities', 'chat'] as const
export type ExportFormat = (typeof exportFormats)[number]

export interface ExportedFile {
  readonly name: string
  readonly type: string
  readonly text: string
}

interface Page {
  readonly results: readonly unknown[]
  readonly nextCursor: string | null
}

/** The whole thread, oldest first, whatever of it is on the screen. */
export async function exportThread(
  options: ApiOptions,
  wanted: { readonly threadId: string; readonly title: string; readonly format: ExportFormat },
): Promise<ExportedFile> {
  const { threadId, title, format } = wanted
  const api = createApi(options)
  const read = format === 'markdown' ? 'chat' : format
  const path = `/api/threads/${encodeURIComponent(threadId)}/messages?format=${read}&limit=200`
  const newestFirst: unknown[] = []
  let cursor: string | null = null
  do {
    const place: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const page: Page = await api.get<Page>(path + place)
    newestFirst.push(...page.results)
    cursor = page.nextCursor
  } while (cursor !== null)
  const messages = newestFirst.toReversed()
  const name = toFileName(title)
  if (format === 'markdown') {
    const text = toMarkdown(title, messages as readonly ChatExport[])
    return { name: `${name}.md`, type: 'text/markdown', text }
  }
  const text = `${JSON.stringify({ id: threadId, title, messages }, null, 2)}\n`
  return { name: `${name}.${format}.json`, type: 'application/json', text }
}

const toFileName = (title: string): string => {
  const name = title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-|-$/g, '')
  return name === '' ? 'conversation' : name.slice(0, 60)
}
