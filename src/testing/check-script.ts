import {
  badOption,
  checkOptions,
  describeValue,
  flag,
  longestTimerMs,
  milliseconds,
  nearestName,
  oneOfWords,
  type OptionRule,
  wholeNumber,
} from '../core/check-options.ts'

const anyString = (byDefault?: string): OptionRule => ({
  range: 'a string',
  fits: (value) => typeof value === 'string',
  ...(byDefault === undefined ? {} : { default: byDefault }),
})
const json: OptionRule = { range: 'a JSON value', fits: isJson }
const pause = milliseconds(0, longestTimerMs, 'none')

/** The fields of each kind of part, by the field that names the kind. */
const partRules = {
  text: { text: anyString(), pieces: wholeNumber(1, 1_000_000, '1'), pauseMs: pause },
  reasoning: { reasoning: anyString() },
  call: {
    call: anyString(),
    input: json,
    id: anyString('one that differs in every step'),
    inputText: anyString('the JSON of `input`'),
    streamed: flag('false'),
    pauseMs: pause,
    cutOff: flag('false'),
    providerResult: { ...json, default: 'none' },
  },
  waitMs: { waitMs: milliseconds(0, longestTimerMs) },
  // A provider may throw anything, `undefined` too.
  fails: { fails: { range: 'anything', fits: () => true, default: 'undefined' } },
  cut: { cut: { range: 'true', fits: (value) => value === true } },
  finish: { finish: oneOfWords(['stop', 'length', 'tool-calls', 'content-filter', 'other']) },
} satisfies Readonly<Record<string, Readonly<Record<string, OptionRule>>>>

const kinds = Object.keys(partRules) as (keyof typeof partRules)[]
/** Names of the same fields in the AI SDK, and their names here. */
const otherNames = { args: 'input', toolName: 'call', toolCallId: 'id', output: 'providerResult' }

/**
 * Throws unless a step of a script is a list of parts, before any of it is streamed: a part that nobody understands
 * would be a turn without an answer, and the test that wonders why would see no reason.
 */
export function checkScript(step: unknown, index: number): void {
  if (!Array.isArray(step)) {
    const what = step instanceof Promise ? 'a promise' : describeValue(step)
    throw badOption(`The script of scriptedModel must return a list of parts, not ${what}.`)
  }
  for (const [place, part] of step.entries()) {
    checkPart(part as unknown, `scriptedModel, call ${index}, part ${place}`)
  }
}

function checkPart(part: unknown, where: string): void {
  if (typeof part !== 'object' || part === null || Array.isArray(part)) {
    const what = describeValue(part)
    throw badOption(`${where} must be an object such as { text: 'Hello.' }, not ${what}.`)
  }
  const kind = kinds.find((name) => Object.hasOwn(part, name))
  if (kind !== undefined) return checkOptions(where, part, partRules[kind], otherNames)
  const [name] = Object.keys(part)
  const meant = name === undefined ? undefined : nearestName(name, kinds)
  throw badOption(
    meant === undefined
      ? `${where} needs one of ${kinds.join(', ')}.`
      : `${where} has no option "${name}". Did you mean "${meant}"?`,
  )
}

function isJson(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined
  } catch {
    // A bigint, or an object that contains itself.
    return false
  }
}
