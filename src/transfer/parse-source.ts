import { cutDeepText } from '../import/old-fields.ts'
import { mostImported } from '../import/message-width.ts'
import { type ParsedJson, parseJsonInSteps, slicedLevels } from '../import/parse-json-in-steps.ts'
import type { PausableWork } from '../core/pausable-work.ts'
import { type Pacer, runPaced } from '../store/pacer.ts'

/**
 * Parses a value or a line of a source, in slices (OP7). Where its length is bounded, so is its widest object, which is made
 * in one piece. No message may be as deep as what is cut off here, in place of which the report names what it has cut off.
 */
export const parseSource = (text: string, mostChars: number, pace: Pacer): Promise<ParsedJson> =>
  runPaced(parseCut(text, mostChars), pace)

function* parseCut(text: string, mostChars: number): PausableWork<ParsedJson> {
  const mostMembers = mostChars < Number.POSITIVE_INFINITY ? mostImported.keys : mostChars
  const found = yield* parseJsonInSteps(text, { mostMembers, mostDepth: slicedLevels })
  if (found.kind !== 'too-deep') return found
  return yield* parseJsonInSteps(yield* cutDeepText(text, slicedLevels), { mostMembers })
}

/** The error text for a value, or a line, that was skipped because of one object in it. */
export const tooManyMembers = `One of its objects has more than ${mostImported.keys.toLocaleString('en-US')} keys, which is the most that is taken here.`
