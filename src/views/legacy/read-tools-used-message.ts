import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts'
import { withDefined } from '../../core/with-defined.ts'
import { fieldOf, idOf, listOf, objectOf, textOf, valueOf } from './old-fields.ts'
import type { Mend, OldCall, OldStep, OldTurn } from './old-message.ts'
import { readArguments } from './read-arguments.ts'
import { readErrorValue, readStatusWord } from './read-status-word.ts'
import { readResultValue } from './read-result-value.ts'
import { readToolName } from './read-tool-name.ts'
import { readUiMessage } from './read-ui-message.ts'
import { toStep } from './to-steps.ts'

/**
 * A message whose parts are text only, while `metadata.tools_used` says which tools ran (LE2). What
 * the parts have already stays; the rest is put between them in the order in which the tools ran.
 */
export function readToolsUsedMessage(message: JsonObject, at: number, mend: Mend): OldTurn {
  const { parts, tools_used: used, ...rest } = objectOf(message, 'metadata') ?? {}
  const stored = listOf(message, 'parts')
  const { metadata: _, ...plain } = message
  const turn = readUiMessage(
    { ...plain, parts: stored.length > 0 ? stored : Array.isArray(parts) ? parts : [] },
    at,
    mend,
  )
  const entries = Array.isArray(used) ? (used as readonly Json[]).filter(isJsonObject) : []
  return withDefined(
    {
      ...turn,
      steps: addUsedTools(
        turn.steps,
        entries.map((entry) => readUsedTool(entry, at, mend)),
      ),
    },
    { metadata: Object.keys(rest).length === 0 ? undefined : rest },
  )
}

function readUsedTool(entry: JsonObject, at: number, mend: Mend): OldCall {
  const name = readToolName(entry)
  const base = withDefined(
    {
      type: 'call',
      name,
      input: readArguments(valueOf(entry, 'input', 'args', 'arguments')),
    } as const,
    { id: idOf(entry, 'toolCallId', 'tool_call_id', 'id') },
  )
  const error = readErrorValue(fieldOf(entry, 'error'))
  if (error !== undefined) {
    return { ...base, outcome: { state: 'failed', cause: 'tool-error', error } }
  }
  const result = ['result', 'output'].find((field) => Object.hasOwn(entry, field))
  if (result !== undefined) return { ...base, ...readResultValue(entry[result], {}, at) }
  if (readStatusWord(textOf(entry, 'status', 'state')) === 'open') {
    return { ...base, outcome: 'open' }
  }
  mend(`No result of ${name} was kept: it is null.`)
  return { ...base, ...readResultValue(null, {}, at) }
}

function addUsedTools(steps: readonly OldStep[], used: readonly OldCall[]): readonly OldStep[] {
  const next = steps.map((step) => ({ ...step, parts: [...step.parts] }))
  const matched = new Set<OldCall>()
  let last: OldCall | undefined
  for (const entry of used) {
    const stored = next
      .flatMap(({ parts }) => parts.filter((part) => part.type === 'call'))
      .find((call) => !matched.has(call) && isSameCall(call, entry))
    const place = next.findIndex(({ parts }) =>
      parts.some((part) => (last === undefined ? part.type === 'call' : part === last)),
    )
    const step = next[place]
    if (stored !== undefined) {
      // A part that was left open, while the list has what came of it.
      const whole = stored.outcome === 'open' ? { ...stored, outcome: entry.outcome } : stored
      const owner = next.find(({ parts }) => parts.includes(stored))
      owner?.parts.splice(owner.parts.indexOf(stored), 1, whole)
      last = whole
    } else if (step === undefined) {
      next.unshift({ ...toStep([entry]), parts: [entry] })
      last = entry
    } else {
      const before = step.parts.findIndex((part) => part.type === 'call')
      step.parts.splice(last === undefined ? before : step.parts.indexOf(last) + 1, 0, entry)
      last = entry
    }
    matched.add(last)
  }
  return next
}

/** By id where both have one; without, each stored call stands for one entry of its tool. */
function isSameCall(stored: OldCall, entry: OldCall): boolean {
  if (stored.id !== undefined && entry.id !== undefined) return stored.id === entry.id
  return stored.name === entry.name
}
