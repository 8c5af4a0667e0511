import { type Json, parseJson } from '../core/json.ts'
import { deepestJson, leaveString } from '../core/json-depth.ts'
import type { PausableWork } from '../core/pausable-work.ts'
import { type Pacer, runPaced } from '../store/pacer.ts'

/** Only these are space in JSON, not all that `trim` removes. */
const ink = /[^ \t\n\r]/
const isBlank = (text: string): boolean => !ink.test(text)

/** So many characters are parsed within a few milliseconds, whatever they are. */
const charsAtOnce = 65_536

/**
 * `JSON.parse` in slices: one message of an import may be a list of a million short texts, which takes a fifth of a second
 * (OP7). Undefined: it is not JSON.
 */
export async function parseLongJson(text: string, pace: Pacer): Promise<Json | undefined> {
  const start = text.length <= charsAtOnce ? -1 : text.search(ink)
  const ends = start === -1 ? undefined : await runPaced(findLong(text), pace)
  const end = ends?.get(start)
  if (ends === undefined || end === undefined || !isBlank(text.slice(end))) {
    return parseJson(text)
  }
  try {
    return await runPaced(parseContainer(text, start, ends, 1), pace)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Goes from bracket to bracket and comma, outside of strings. */
function createSigns(text: string, from: number) {
  const scan = { at: from, inString: false }
  const signs = /["[\]{},]/g
  return {
    /** The place of the next one; -1 after the last. */
    next(): number {
      for (;;) {
        signs.lastIndex = scan.at
        const found = signs.exec(text)
        if (found === null) return -1
        scan.at = found.index + 1
        if (found[0] !== '"') return found.index
        scan.inString = true
        if (!leaveString(text, scan)) return -1
        scan.at++
      }
    },
    jump(to: number): void {
      scan.at = to
    },
  }
}

/** Where each list and object ends that is too long to be parsed at once, by where it begins. */
function* findLong(text: string): PausableWork<ReadonlyMap<number, number>> {
  const ends = new Map<number, number>()
  const open: number[] = []
  const signs = createSigns(text, 0)
  let pausedAt = 0
  for (let at = signs.next(); at !== -1; at = signs.next()) {
    const sign = text[at]
    if (sign === '[' || sign === '{') open.push(at)
    else if (sign !== ',') {
      const start = open.pop() ?? at
      if (at + 1 - start > charsAtOnce) ends.set(start, at + 1)
    }
    if (at - pausedAt > charsAtOnce) {
      pausedAt = at
      yield
    }
  }
  return ends
}

/** A list or object that is long: its members in groups, and those that are long themselves by this function. */
function* parseContainer(
  text: string,
  start: number,
  ends: ReadonlyMap<number, number>,
  level: number,
): PausableWork<Json> {
  const end = ends.get(start) ?? start
  const isList = text[start] === '['
  // Whatever is deeper than any document may be is left to `JSON.parse`, which does not recurse.
  if (level > deepestJson || text[end - 1] !== (isList ? ']' : '}')) {
    return JSON.parse(text.slice(start, end)) as Json
  }
  const entries: [string, Json][] = []
  const items: Json[] = []
  const addGroup = (from: number, to: number) => {
    const group = text.slice(from, to)
    const isWhole = from === start + 1 && to === end - 1
    if (!isWhole && isBlank(group)) throw new SyntaxError('A member is missing.')
    const parsed = JSON.parse(isList ? `[${group}]` : `{${group}}`) as Json
    if (Array.isArray(parsed)) for (const item of parsed as readonly Json[]) items.push(item)
    else for (const entry of Object.entries(parsed as object)) entries.push(entry as [string, Json])
  }
  const signs = createSigns(text, start + 1)
  /** Where the members begin that were not parsed yet, and the last comma among them. */
  let from = start + 1
  let comma = -1
  let depth = 0
  for (let at = signs.next(); at < end - 1; at = signs.next()) {
    const sign = text[at]
    const childEnd = depth === 0 ? ends.get(at) : undefined
    if (childEnd !== undefined) {
      if (comma !== -1) addGroup(from, comma)
      const head = text.slice(comma === -1 ? from : comma + 1, at)
      const child = yield* parseContainer(text, at, ends, level + 1)
      if (!isList) entries.push([readKey(head), child])
      else if (isBlank(head)) items.push(child)
      else throw new SyntaxError('A comma is missing.')
      const after = text.slice(childEnd, end - 1).search(ink)
      if (after === -1) return isList ? items : Object.fromEntries(entries)
      if (text[childEnd + after] !== ',') throw new SyntaxError('A comma is missing.')
      from = childEnd + after + 1
      comma = -1
      signs.jump(from)
    } else if (sign === '[' || sign === '{') depth++
    else if (sign !== ',') depth--
    else if (depth === 0 && at - from < charsAtOnce) comma = at
    else if (depth === 0) {
      addGroup(from, at)
      from = at + 1
      comma = -1
      yield
    }
  }
  addGroup(from, end - 1)
  return isList ? items : Object.fromEntries(entries)
}

/** What stands before a member of an object: its key, and a colon. */
function readKey(head: string): string {
  const [entry] = Object.entries(JSON.parse(`{${head}null}`) as object)
  if (entry === undefined) throw new SyntaxError('A key is missing.')
  return entry[0]
}
