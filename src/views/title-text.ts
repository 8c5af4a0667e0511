import type { Message } from '../core/message.ts'
import { searchTextOf } from './search-text.ts'

/** The longest title that is made of a model's output, in characters. */
export const longestMadeTitle = 80

/**
 * The title in a model's output: its first line, without markdown, quotes and full stop, cut at a word. Null:
 * nothing in it can be a title.
 */
export function toTitleText(output: string): string | null {
  const line = output
    .toWellFormed()
    .split('\n')
    .map((each) => plain(each))
    .find((each) => /[\p{L}\p{N}]/u.test(each))
  return line === undefined ? null : cut(line)
}

/** Control characters, and marks that change the text direction. */
const invisible = /[\p{Cc}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF]/gu

function plain(line: string): string {
  let text = line
    .replaceAll(invisible, ' ')
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/(\*{1,3}|_{2,3}|~~|`+)(?=\S)(.*?\S)\1/g, '$2')
    .replaceAll(/[*`]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replace(/^(?:#{1,6}|[-+>•]|\d+[.)])\s+/, '')
    .replace(/^title\s*[:：]\s*/i, '')
  for (;;) {
    const inner = unquoted(text.replace(/[.。]+$/u, '').trim())
    if (inner === text) return text
    text = inner
  }
}

const quotes: readonly (readonly [string, string])[] = [
  ['"', '"'],
  ["'", "'"],
  ['“', '”'],
  ['„', '“'],
  ['„', '”'],
  ['‘', '’'],
  ['«', '»'],
  ['»', '«'],
  ['「', '」'],
  ['『', '』'],
]

/** Without the quotes around the whole text; those inside belong to it. */
function unquoted(text: string): string {
  for (const [open, close] of quotes) {
    if (text.length < 2 || !text.startsWith(open) || !text.endsWith(close)) continue
    const inner = text.slice(open.length, -close.length)
    if (!inner.includes(open) && !inner.includes(close)) return inner.trim()
  }
  return text
}

function cut(line: string): string {
  if (line.length <= longestMadeTitle) return line
  const head = line
    .slice(0, longestMadeTitle - 1)
    .toWellFormed()
    .replaceAll('\uFFFD', '')
  const end = head.lastIndexOf(' ')
  return `${(end > longestMadeTitle / 2 ? head.slice(0, end) : head).trimEnd()}…`
}

/** The beginning of the prompt, by which a scripted model recognises the request for a title. */
export const titlePromptStart = 'The conversation to name:'

const mostCharsOfEach = 2_000

/** The prompt for a title: the beginning of the conversation, each message cut. Null: there is no text. */
export function toTitlePrompt(messages: readonly Message[]): string | null {
  const texts = messages.flatMap((message) => {
    const text = searchTextOf(message).trim()
    if (text === '' || message.role === 'system') return []
    const who = message.role === 'assistant' ? 'Assistant' : 'User'
    return [`${who}: ${text.slice(0, mostCharsOfEach).toWellFormed()}`]
  })
  return texts.length === 0 ? null : [titlePromptStart, ...texts].join('\n\n')
}
