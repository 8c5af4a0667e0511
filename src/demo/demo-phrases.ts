/** What the demo model was asked to do. */
export type DemoTask =
  | { readonly type: 'weather'; readonly cities: readonly string[] }
  | { readonly type: 'time'; readonly city: string }
  | { readonly type: 'time-and-weather'; readonly city: string }
  | { readonly type: 'stock'; readonly ticker: string }
  | { readonly type: 'afl'; readonly subject: string }
  | { readonly type: 'search-notes'; readonly query: string }
  | {
      readonly type: 'delete-notes'
      readonly titles: readonly string[]
      /** A call that takes this long runs beside them. */
      readonly waitSeconds?: number
    }
  | { readonly type: 'write-note'; readonly subject: string }
  | ({ readonly type: 'call-many'; readonly count: number } & ManyCalls)
  | { readonly type: 'fail-tool' }
  | { readonly type: 'slow-tool'; readonly seconds: number }
  | { readonly type: 'charge-card'; readonly amount: number }
  | { readonly type: 'provider-error' }
  | { readonly type: 'cut-off' }
  | { readonly type: 'no-final-text' }
  | { readonly type: 'long-answer' }
  | { readonly type: 'talk'; readonly text: string }

interface ManyCalls {
  /** The third of them fails. */
  readonly fails?: true
  /** They are followed by a call that takes this long. */
  readonly waitSeconds?: number
}

const mostCalls = 500
const longestSeconds = 3_600

/** A group that did not match is undefined, despite its type. */
type Phrase = readonly [pattern: RegExp, task: (found: readonly string[]) => DemoTask]

/** The first match counts, so the more specific patterns come first. */
const phrases: readonly Phrase[] = [
  [/\bprovider error\b/i, () => ({ type: 'provider-error' })],
  [/\bcut[ -]?off\b/i, () => ({ type: 'cut-off' })],
  [/\bno final text\b/i, () => ({ type: 'no-final-text' })],
  [
    /\bwrite (?:me |down )?(?:a |the )?note (?:about|on) (.*[\p{L}\p{N}].*)/iu,
    ([subject = '']) => ({ type: 'write-note', subject: toName(subject) }),
  ],
  [/\blong (?:answer|text|story)\b/i, () => ({ type: 'long-answer' })],
  [/\bfail(?:ing)? tool\b/i, () => ({ type: 'fail-tool' })],
  [
    /\bcall (\d+) tools?\b(.*\bfails?\b)?(?:.*\bwait (\d+)\b)?/i,
    ([count = '1', fails, seconds]) => ({
      type: 'call-many',
      count: Math.min(Math.max(Number(count), 1), mostCalls),
      ...(fails === undefined ? {} : { fails: true }),
      ...(seconds === undefined ? {} : { waitSeconds: Math.min(Number(seconds), longestSeconds) }),
    }),
  ],
  [
    /\bdelete (?:my |the )?notes? (.*?[\p{L}\p{N}].*?),? while the slow tool runs(?: for (\d+))?/iu,
    ([titles = '', seconds = '60']) => ({
      type: 'delete-notes',
      titles: toList(titles),
      waitSeconds: Math.min(Number(seconds), longestSeconds),
    }),
  ],
  [
    /\bslow tool(?:\s+(?:for\s+)?(\d+(?:\.\d+)?))?/i,
    ([seconds = '3']) => ({
      type: 'slow-tool',
      seconds: Math.min(Number(seconds), longestSeconds),
    }),
  ],
  [
    /\bcharge (?:my |the )?card(?:\D*(\d+(?:\.\d+)?))?/i,
    ([amount = '42']) => ({ type: 'charge-card', amount: Number(amount) }),
  ],
  [
    /\bdelete (?:my |the )?notes? (.*[\p{L}\p{N}].*)/iu,
    ([titles = '']) => ({ type: 'delete-notes', titles: toList(titles) }),
  ],
  [
    /\bsearch (?:in )?(?:my |the )?notes (?:for|about|on) (.*[\p{L}\p{N}].*)/iu,
    ([query = '']) => ({ type: 'search-notes', query: toName(query) }),
  ],
  [
    /\bAFL (?:code|formula) (?:for|of) (.*[\p{L}\p{N}].*)/iu,
    ([subject = '']) => ({ type: 'afl', subject: toName(subject) }),
  ],
  [
    /\btime in (.+?),? and (?:the )?weather there/i,
    ([city = '']) => ({ type: 'time-and-weather', city: toName(city) }),
  ],
  [
    /\bweather in (.*[\p{L}\p{N}].*)/iu,
    ([cities = '']) => ({ type: 'weather', cities: toList(cities) }),
  ],
  [/\btime in (.*[\p{L}\p{N}].*)/iu, ([city = '']) => ({ type: 'time', city: toName(city) })],
  [
    /\bstock (?:price )?(?:of |for )?\$?([a-z][a-z.-]{0,9})\b/i,
    ([ticker = '']) => ({ type: 'stock', ticker: ticker.toUpperCase() }),
  ],
]

export function parseDemoTask(text: string): DemoTask {
  for (const [pattern, task] of phrases) {
    const found = pattern.exec(text)
    if (found !== null) return task(found.slice(1))
  }
  return { type: 'talk', text }
}

const courtesy = /[\s,]+(?:please|now|right now|today|tomorrow)$/i

/** Without the punctuation and polite words around a name. */
function toName(text: string): string {
  const name = text
    .trim()
    .replace(/[?!.,;:]+$/, '')
    .replace(courtesy, '')
  return name.replace(/^["'“‘]+|["'”’]+$/g, '').trim()
}

const toList = (text: string): readonly string[] =>
  toName(text)
    .split(/\s*,\s*(?:and\s+)?|\s+and\s+/i)
    .map(toName)
    .filter((name) => name !== '')
