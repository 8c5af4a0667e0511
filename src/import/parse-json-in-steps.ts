import { deepestJson, leaveString } from '../core/json-depth.ts'
import { type Json, type JsonObject, parseJson } from '../core/json.ts'
import type { PausableWork } from '../core/pausable-work.ts'

/** What is known of a JSON text: its value, or why it has none. */
export type ParsedJson =
  | { readonly kind: 'value'; readonly value: Json }
  | { readonly kind: 'not-json' }
  /** It has more levels than `mostDepth`. */
  | { readonly kind: 'too-deep' }
  /** One of its objects has more members than `mostMembers`. */
  | { readonly kind: 'too-wide' }

/** What is not parsed of a text that is longer than a slice; a shorter one always is. Without a bound, everything is. */
export interface ParseBounds {
  readonly mostDepth?: number
  readonly mostMembers?: number
  /** The length of a slice. @default 65,536 */
  readonly sliceChars?: number
}

/** So many characters are parsed within a few milliseconds, whatever they are. */
export const charsAtOnce = 65_536

/** As many levels as any document may have, and what is around it. What is below is parsed in one piece. */
export const slicedLevels = 2 * deepestJson

/**
 * `JSON.parse` in slices: one message of an import may be a list of a million short texts, which takes a fifth of a second
 * (OP7). The text is walked once. After each slice, the lists and objects around that place are parsed as far as their
 * members are complete; what begins and ends within a slice is not looked at by itself, so that all of it takes little more
 * than `JSON.parse`. In one piece are a text, an object of many members, and what is below `slicedLevels`.
 */
export function* parseJsonInSteps(
  text: string,
  bounds: ParseBounds = {},
): PausableWork<ParsedJson> {
  const { sliceChars = charsAtOnce } = bounds
  const start = skipSpace(text, 0)
  const isLong = text.length > sliceChars && isOpening(text.charCodeAt(start))
  if (!isLong) return parse(text)
  const walk: Walk = { at: start, starts: [], commas: [], counts: [] }
  /** The outer ones of the lists and objects around the place, which are longer than a slice. */
  const long: LongContainer[] = []
  for (let until = start + sliceChars; ;) {
    const found = walkOn(text, walk, { ...bounds, until, least: long.length })
    const { at } = walk
    if (found === 'sliced') {
      if (!parseAround(text, walk, long)) return notJson
      until = at + sliceChars
      yield
    } else if (found === 'closed') {
      // One text is longer than the slice, or what is below `slicedLevels`.
      if (long.length === 0) return parse(text)
      const value = long.pop()?.close(at - 1)
      if (value === undefined) return notJson
      const next = skipSpace(text, at)
      const outer = long.at(-1)
      if (outer === undefined) return next === text.length ? { kind: 'value', value } : notJson
      if (!outer.addLong(value, next)) return notJson
      walk.at = next
    } else return { kind: found }
  }
}

interface Walk {
  at: number
  /** Of each list and object around the place: where it begins, its last comma, and how many of them it has. */
  readonly starts: number[]
  readonly commas: number[]
  readonly counts: number[]
}

interface WalkBounds extends ParseBounds {
  /** A slice ends at the next comma from here. */
  readonly until: number
  /** Stops where a list or object closes that is among so many outer ones. */
  readonly least: number
}

/** A function of its own, because the loop is several times as slow in a generator. */
function walkOn(
  text: string,
  walk: Walk,
  {
    mostDepth = Number.POSITIVE_INFINITY,
    mostMembers = Number.POSITIVE_INFINITY,
    ...to
  }: WalkBounds,
): 'sliced' | 'closed' | 'not-json' | 'too-deep' | 'too-wide' {
  const { starts, commas, counts } = walk
  const { until, least } = to
  const string = { at: 0, inString: false }
  for (let at = walk.at; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (char === quote) {
      string.at = at + 1
      if (!leaveString(text, string)) return 'not-json'
      at = string.at
    } else if (char === comma) {
      const level = starts.length - 1
      const count = (counts[level] ?? 0) + 1
      commas[level] = at
      counts[level] = count
      const isWide = count >= mostMembers && text.charCodeAt(starts[level] ?? 0) === openBrace
      if (isWide) return 'too-wide'
      if (at < until) continue
      walk.at = at + 1
      return 'sliced'
    } else if (char === openBrace || char === openBracket) {
      if (starts.push(at) > mostDepth) return 'too-deep'
      commas.push(-1)
      counts.push(0)
    } else if (char === closeBrace || char === closeBracket) {
      starts.pop()
      commas.pop()
      counts.pop()
      if (starts.length > 0 && starts.length >= least) continue
      walk.at = at + 1
      return 'closed'
    }
  }
  return 'not-json'
}

/** The lists and objects around a place, from the outermost, as far as their members are complete. False: it is not JSON. */
function parseAround(text: string, { starts, commas }: Walk, long: LongContainer[]): boolean {
  const levels = Math.min(starts.length, slicedLevels)
  for (let level = Math.max(long.length - 1, 0); level < levels; level++) {
    const container = (long[level] ??= createLongContainer(text, starts[level] ?? 0))
    if (!container.addUntil(commas[level] ?? -1)) return false
    if (level + 1 < levels && !container.enter(starts[level + 1] ?? 0)) return false
  }
  return true
}

interface LongContainer {
  /** Parses the members before this comma. Like each of these, false or undefined if it is not JSON. */
  addUntil(comma: number): boolean
  /** What stands between the last comma and a member that is long itself: nothing, or a key. */
  enter(start: number): boolean
  /** Adds this member; `next` is what follows it. */
  addLong(value: Json, next: number): boolean
  close(end: number): Json | undefined
}

function createLongContainer(text: string, start: number): LongContainer {
  const isList = text.charCodeAt(start) === openBracket
  const items: Json[] = []
  const entries: [string, Json][] = []
  /** Where the members begin that were not parsed yet; -1 behind a long one that is the last. */
  let from = start + 1
  let key = ''
  /** How many there are; -1: it is not JSON. */
  const add = (to: number): number => {
    const members = text.slice(from, to)
    const parsed = parseJson(isList ? `[${members}]` : `{${members}}`)
    if (parsed === undefined) return -1
    from = to + 1
    if (Array.isArray(parsed)) {
      for (const item of parsed as readonly Json[]) items.push(item)
      return parsed.length
    }
    const added = Object.entries(parsed as JsonObject)
    for (const entry of added) entries.push(entry)
    return added.length
  }
  return {
    addUntil: (last) => last < from || add(last) > 0,
    enter(child) {
      const head = text.slice(from, child)
      if (isList) return skipSpace(head, 0) === head.length
      const [found, ...more] = Object.keys(parseJson(`{${head}null}`) ?? {})
      key = found ?? ''
      return found !== undefined && more.length === 0
    },
    addLong(value, next) {
      if (isList) items.push(value)
      else entries.push([key, value])
      const char = text.charCodeAt(next)
      from = char === comma ? next + 1 : -1
      return char === comma || char === closeBrace || char === closeBracket
    },
    close(end) {
      if (text.charCodeAt(end) !== (isList ? closeBracket : closeBrace)) return undefined
      const isFirst = from === start + 1
      const isMissing = from !== -1 && add(end) < (isFirst ? 0 : 1)
      if (isMissing) return undefined
      // `fromEntries` makes a property of `__proto__` where an assignment would run its setter.
      return isList ? items : Object.fromEntries(entries)
    },
  }
}

function parse(text: string): ParsedJson {
  const value = parseJson(text)
  return value === undefined ? notJson : { kind: 'value', value }
}

const notJson = { kind: 'not-json' } as const

/** Only these are space in JSON, not all that `trim` removes. */
function skipSpace(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (char !== space && char !== lineFeed && char !== carriageReturn && char !== tab) return at
  }
  return text.length
}

const isOpening = (char: number): boolean => char === openBrace || char === openBracket

const [quote, comma] = [0x22, 0x2c] as const
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d] as const
const [space, lineFeed, carriageReturn, tab] = [0x20, 0x0a, 0x0d, 0x09] as const
