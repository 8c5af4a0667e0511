import { isTurn, type Message } from '../../core/message.ts'
import { answerOf } from '../../views/commentary.ts'
import { isLongText } from '../message/user-text.tsx'
import type { ListRow } from './thread-rows.ts'

const linePx = 26
const charsOfALine = 85
/** Of a long message of a person, with what opens it. */
const foldedLines = 12

/** The estimated height of a row: the closer, the less the list shifts when it has been measured. */
export function estimateRow(row: ListRow | undefined): number {
  if (row === undefined) return 140
  if (row.kind === 'pending') return 70
  return isTurn(row.message) ? estimateTurn(row.message) : estimateUser(row.message)
}

function estimateUser(message: Exclude<Message, { readonly role: 'assistant' }>): number {
  const text = message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  return 42 + (isLongText(text) ? foldedLines : linesOf(text)) * linePx
}

function estimateTurn(turn: Extract<Message, { readonly role: 'assistant' }>): number {
  const calls = turn.steps.flatMap(({ parts }) =>
    parts.filter(({ type }) => type === 'call'),
  ).length
  const tools = calls === 0 ? 0 : 40 + Math.min(calls, 4) * 90
  return 25 + tools + linesOf(answerOf(turn)) * linePx
}

const linesOf = (text: string): number =>
  text
    .split('\n')
    .reduce((sum, line) => sum + Math.max(0.6, Math.ceil(line.length / charsOfALine)), 0)
