import { isDeepStrictEqual } from 'node:util'
import type { Message } from '../../core/message.ts'

const texts = new WeakMap<object, string>()

/** Folds share what did not change, so the text of a message is made once however often it is compared. */
function textOf(message: Message): string {
  let text = texts.get(message)
  if (text === undefined) {
    text = JSON.stringify(message)
    texts.set(message, text)
  }
  return text
}

export function findDifference(
  found: readonly Message[],
  expected: readonly Message[],
): string | undefined {
  const ids = (messages: readonly Message[]) => messages.map(({ id }) => id).join(' ')
  if (ids(found) !== ids(expected)) return `has [${ids(found)}], not [${ids(expected)}]`
  for (const [index, message] of found.entries()) {
    const other = expected[index] as Message
    if (message === other || textOf(message) === textOf(other)) continue
    if (isDeepStrictEqual(JSON.parse(textOf(message)), JSON.parse(textOf(other)))) continue
    return `has\n  ${textOf(message)}\nnot\n  ${textOf(other)}`
  }
  return undefined
}
