import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import type { TurnEnding } from '../core/message.ts'
import { withDefined } from '../core/with-defined.ts'
import { addMissingContent, toSteps } from './steps.ts'
import { dateOf, fieldOf, idOf, objectOf, partListOf, textOf } from './old-fields.ts'
import type { Mend, OldPart, OldStep, OldTurn } from './old-message.ts'
import { readParts } from './message-parts.ts'
import { plainContext } from './old-call.ts'

/** An assistant message of AI SDK 5–7 (LE1). */
export function readUiMessage(message: JsonObject, at: number, mend: Mend): OldTurn {
  const parts = partListOf(message)
  const read = readParts(
    parts.filter((part) => !isNote(part)),
    plainContext(at, mend),
  )
  const content = textOf(message, 'content') ?? ''
  return withDefined(
    {
      kind: 'turn',
      steps: addMissingContent(toSteps(read, 'loose').map(readAttempt), content),
    } as const,
    {
      id: idOf(message, 'id'),
      at: dateOf(message),
      metadata: fieldOf(message, 'metadata'),
      ending: readNote(parts.findLast(isNote)),
    },
  )
}

/** A text that says it is of an attempt that was broken off and made again (AG8). */
const isAttempt = (part: OldPart): boolean =>
  part.type === 'text' &&
  textOf(objectOf(part.providerMetadata ?? {}, 'holdfast') ?? {}, 'attempt') === 'abandoned'

function readAttempt(step: OldStep): OldStep {
  if (!step.parts.some(isAttempt)) return step
  const parts = step.parts.map((part): OldPart => {
    if (!isAttempt(part) || part.type !== 'text') return part
    const { providerMetadata = {}, ...text } = part
    const { holdfast: _, ...rest } = providerMetadata
    return Object.keys(rest).length === 0 ? text : { ...text, providerMetadata: rest }
  })
  return { ...step, parts, flaw: 'draft' }
}

const isNote = (part: Json): boolean =>
  isJsonObject(part) && part.type === 'data-holdfast' && part.id === 'holdfast'

/** How a turn ended that did not complete, as `projectUiMessage` says it. */
function readNote(part: Json | undefined): TurnEnding | undefined {
  const data = isJsonObject(part) ? objectOf(part, 'data') : undefined
  const status = data === undefined ? undefined : textOf(data, 'status')
  switch (status) {
    case 'stopped':
    case 'cut-off':
    case 'step-limit':
    case 'no-answer':
    case 'interrupted':
      return { kind: status }
    case 'failed': {
      const message = textOf(data as JsonObject, 'message') ?? ''
      return { kind: 'failed', error: { code: 'imported', message } }
    }
    default:
      return undefined
  }
}
